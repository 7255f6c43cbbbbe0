//! What colours a terminal (`ESC [ 36 m`): docker compose and others write it into files too.

use std::borrow::Cow;

const START: &str = "\u{1b}[";

/// A text without colours, as long as it was: blanks in place of each, or behind the word that it stands in, which stays whole
/// as on a terminal. What breaks off or moves the cursor stays, so that no number is read that nobody saw.
pub(in crate::record::import) fn without_colours(text: &str) -> Cow<'_, str> {
    if !text.contains(START) {
        return text.into();
    }
    let mut plain = Plain { text: String::with_capacity(text.len()), owed: 0 };
    let mut rest = text;
    while let Some(at) = rest.find(START) {
        let (before, colour) = rest.split_at(at);
        let of_colour = |byte: &u8| byte.is_ascii_digit() || *byte == b';';
        let end = START.len() + colour[START.len()..].bytes().take_while(of_colour).count();
        plain.add(before);
        if colour[end..].starts_with(['m', 'K']) {
            plain.leave_out(end + 1);
            rest = &colour[end + 1..];
        } else {
            plain.add(&colour[..end]);
            rest = &colour[end..];
        }
    }
    plain.add(rest);
    plain.pay();
    plain.text.into()
}

struct Plain {
    text: String,
    /// Blanks for what was left out of the word at the end.
    owed: usize,
}

impl Plain {
    fn add(&mut self, text: &str) {
        let word = text.find(is_blank).unwrap_or(text.len());
        self.text += &text[..word];
        if word < text.len() {
            self.pay();
            self.text += &text[word..];
        }
    }

    fn leave_out(&mut self, bytes: usize) {
        self.owed += bytes;
        if self.text.is_empty() || self.text.ends_with(is_blank) {
            self.pay();
        }
    }

    fn pay(&mut self) {
        self.text.extend(std::iter::repeat_n(' ', std::mem::take(&mut self.owed)));
    }
}

fn is_blank(letter: char) -> bool {
    letter.is_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_that_breaks_off_stays_a_text() {
        for text in ["\u{1b}[", "a\u{1b}[36", "\u{1b}[é", "9\u{1b}[3141 Mbits/sec", "9\u{1b}[2C41"] {
            assert_eq!(without_colours(text), text);
        }
        assert_eq!(without_colours("\u{1b}[31mred\u{1b}[0m"), "     red    ");
        assert_eq!(without_colours("\u{1b}[31;1mä\u{1b}[0m\r\n"), "       ä    \r\n");
    }

    #[test]
    fn a_colour_within_a_number_leaves_it_whole() {
        for (text, plain) in [
            ("\u{1b}[31m9\u{1b}[0m41 Mbits/sec", "     941     Mbits/sec"),
            ("a 9\u{1b}[31m4\u{1b}[0m1\nb", "a 941         \nb"),
            ("time=\u{1b}[1m0.0\u{1b}[K45\u{1b}[0m\tms", "time=0.045           \tms"),
            ("1 \u{1b}[36m2", "1      2"),
        ] {
            assert_eq!(without_colours(text), plain);
            assert_eq!(plain.len(), text.len());
        }
    }
}
