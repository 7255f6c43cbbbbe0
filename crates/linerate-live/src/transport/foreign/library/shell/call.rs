//! The program that a launcher calls as it would call ssh: `[options] host [options] command…`.

use super::{Access, LONGEST, Request, Said, plain};
use crate::transport::encrypted::certificate::{DEFAULT, NAME, client};
use crate::{Error, Result};
use linerate_sys::{link, local, socket};
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::sync::Arc;
use std::time::Duration;

/// What connecting may take.
const CONNECT: Duration = Duration::from_secs(10);

/// Options of ssh and rsh that a value follows.
const WITH_VALUE: &[&str] = &["-l", "-p", "-i", "-o", "-F", "-b", "-c"];

/// Has the command run, passes on what it says, and gives its exit code.
pub fn main(lender: &str, words: &[String]) -> Result<u8> {
    let nothing = || Error::usage("no command for the other host", "linerate starts this by itself");
    let asked = command(words).ok_or_else(nothing)?;
    if is_this_host(words)? {
        // In place of this process, whose launcher waits for it.
        return Err(Error::io("execve", "/bin/sh", plain(&asked).exec()));
    }
    ask(&borrowed(lender)?, Some(asked))
}

/// Whether the host that is named is this one: Intel's launcher starts its own host's part by the shell as well.
fn is_this_host(words: &[String]) -> Result<bool> {
    let address = without_options(words).first().and_then(|host| host.parse().ok());
    Ok(address.map(link::with_address).transpose()?.flatten().is_some())
}

/// What opens the shell, from who lends it on this host.
pub fn borrowed(lender: &str) -> Result<Access> {
    let failed = |e| Error::io("read", lender, e);
    let stream = local::connect(lender)?;
    stream.set_read_timeout(Some(CONNECT)).map_err(failed)?;
    // Another user could have taken the name meanwhile.
    if socket::own_peer(&stream).is_none() {
        return Err(Error::usage(format!("{lender} is another user's"), "linerate starts this by itself"));
    }
    let mut said = Vec::new();
    stream.take(LONGEST as u64).read_to_end(&mut said).map_err(failed)?;
    serde_json::from_slice(&said)
        .map_err(|e| Error::usage(format!("{lender}: {e}"), "linerate sets it itself"))
}

/// Asks for a command, or says that none will come.
pub fn ask(access: &Access, command: Option<String>) -> Result<u8> {
    let at = access.address.to_string();
    let failed = |call: &'static str| {
        let at = at.clone();
        move |error| Error::io(call, at, error)
    };
    let stream = TcpStream::connect_timeout(&access.address, CONNECT).map_err(failed("connect"))?;
    let refused = |e: &dyn std::fmt::Display| Error::unavailable(format!("TLS: {e}"), "");
    let name = ServerName::try_from(NAME).map_err(|e| refused(&e))?;
    let config = client(DEFAULT, &access.fingerprint)?;
    let state = ClientConnection::new(Arc::new(config), name).map_err(|e| refused(&e))?;
    let mut stream = StreamOwned::new(state, stream);
    let request = Request { secret: access.secret.clone(), command };
    let mut line = serde_json::to_vec(&request).map_err(|e| Error::usage(e.to_string(), ""))?;
    line.push(b'\n');
    if line.len() > LONGEST {
        return Err(Error::usage("the command for the other host is too long", ""));
    }
    stream.write_all(&line).and_then(|()| stream.flush()).map_err(failed("write"))?;
    loop {
        match Said::read(&mut stream).map_err(failed("read"))? {
            Said::Output(bytes) => say(std::io::stdout(), &bytes),
            Said::Errors(bytes) => say(std::io::stderr(), &bytes),
            Said::Ended(code) => return Ok(code),
        }
    }
}

/// The launcher may have stopped listening.
fn say(mut to: impl Write, bytes: &[u8]) {
    let _ = to.write_all(bytes).and_then(|()| to.flush());
}

/// What stands behind the host, as one line for a shell, as ssh makes it.
fn command(words: &[String]) -> Option<String> {
    let behind_host = &without_options(words).get(1..)?;
    let command = without_options(behind_host).join(" ");
    (!command.is_empty()).then_some(command)
}

fn without_options(mut words: &[String]) -> &[String] {
    while let Some(word) = words.first().filter(|word| word.starts_with('-')) {
        let count = 1 + usize::from(WITH_VALUE.contains(&word.as_str()));
        words = words.get(count..).unwrap_or_default();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_is_known_by_its_address() {
        let is_here = |text: &str| {
            let words: Vec<String> = text.split(' ').map(String::from).collect();
            is_this_host(&words).unwrap()
        };
        assert!(is_here("-q -x 127.0.0.1 true"));
        assert!(!is_here("-q -x 192.0.2.1 true") && !is_here("elsewhere true") && !is_here("-q"));
    }

    #[test]
    fn the_command_follows_host_and_options() {
        let cases = [
            ("-x 10.0.0.2 orted -mca a b", Some("orted -mca a b")),
            ("-o A=b -p 22 host -l me -n true", Some("true")),
            ("host cd /; ls", Some("cd /; ls")),
            ("host", None),
            ("-x", None),
            ("-p", None),
        ];
        for (words, wanted) in cases {
            let words: Vec<String> = words.split(' ').map(String::from).collect();
            assert_eq!(command(&words).as_deref(), wanted, "{words:?}");
        }
    }
}
