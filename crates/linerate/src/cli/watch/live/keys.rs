//! What the user asks for while the view is shown.
//!
//! A thread listens for keys. It sleeps in the kernel until something comes, so it takes no time from what is measured, and
//! it does not draw. What was asked for is seen before the next step.

use super::screen::{leave, take_again};
use crate::Result;
use crate::cli::stop::Stop;
use linerate_sys::terminal::{Keyboard, Wake, keyboard};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// In raw mode Ctrl-C is a key.
const CTRL_C: u8 = 3;
const ESCAPE: u8 = 27;

/// What the user asked for.
pub struct UserRequests {
    stop: Stop,
    held: AtomicBool,
    help: AtomicBool,
}

/// The listening thread; it ends with this.
pub struct Keys {
    /// What was asked for so far.
    pub asked: Arc<UserRequests>,
    wake: Option<Wake>,
    reader: Option<JoinHandle<()>>,
}

impl UserRequests {
    /// Whether the drawing is to stand still.
    pub fn is_held(&self) -> bool {
        self.held.load(Ordering::Relaxed)
    }

    /// Whether help is to be shown.
    pub fn is_help(&self) -> bool {
        self.help.load(Ordering::Relaxed)
    }

    fn key(&self, key: u8) {
        match key {
            b'q' | CTRL_C => self.stop.pressed(),
            b'p' | b' ' => _ = self.held.fetch_xor(true, Ordering::Relaxed),
            b'?' | b'h' => _ = self.help.fetch_xor(true, Ordering::Relaxed),
            _ => (),
        }
    }
}

impl Keys {
    /// Listens from now on. Who ends the run at once gives the terminal back first.
    pub fn listen(stop: &Stop) -> Result<Keys> {
        let flag = || AtomicBool::new(false);
        let asked = Arc::new(UserRequests { stop: stop.clone(), held: flag(), help: flag() });
        stop.has_terminal(leave, take_again);
        let (keyboard, wake) = keyboard()?;
        let of_keys = asked.clone();
        let reader = linerate_sys::thread::start("keys", move || read(keyboard, &of_keys))?;
        Ok(Keys { asked, wake: Some(wake), reader: Some(reader) })
    }
}

/// Sleeps until a key comes; the end of the terminal or of the view ends it.
fn read(mut keyboard: Keyboard, asked: &UserRequests) {
    while let Some(keys) = keyboard.next_keys() {
        // An arrow or a function key begins with this, and none of them means anything here.
        if keys.first() != Some(&ESCAPE) {
            keys.into_iter().for_each(|key| asked.key(key));
        }
    }
}

impl Drop for Keys {
    /// What is typed next belongs to others: a password that ssh asks for in the next run.
    fn drop(&mut self) {
        drop(self.wake.take());
        // A panic there has been printed; there is nothing to add.
        let _ = self.reader.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stop_hold_and_help() {
        let stop = Stop::listen().unwrap();
        let flag = || AtomicBool::new(false);
        let asked = UserRequests { stop: stop.clone(), held: flag(), help: flag() };
        b"p?x".iter().for_each(|key| asked.key(*key));
        assert!(asked.is_held() && asked.is_help() && !stop.wanted());
        b" hq".iter().for_each(|key| asked.key(*key));
        assert!(!asked.is_held() && !asked.is_help() && stop.wanted());
    }
}
