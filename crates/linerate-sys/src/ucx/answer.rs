//! What UCX answers.

use std::io;

/// `ucs_status_t` is an enumeration of one byte (ucs/type/status.h).
pub type Status = i8;
pub const IN_PROGRESS: Status = 1;
/// `UCS_ERR_LAST`: what a call gives is null, an error from here on, or a request.
pub const LAST_ERROR: usize = -100_isize as usize;

/// What a negative answer says (ucs/type/status.h).
#[inline]
pub fn check(status: Status) -> io::Result<()> {
    if status == 0 { Ok(()) } else { Err(refusal(status)) }
}

#[cold]
fn refusal(status: Status) -> io::Error {
    let known = [
        (-2, "UCS_ERR_NO_RESOURCE"),
        (-3, "UCS_ERR_IO_ERROR"),
        (-4, "UCS_ERR_NO_MEMORY"),
        (-5, "UCS_ERR_INVALID_PARAM"),
        (-6, "UCS_ERR_UNREACHABLE: none of its transports leads there"),
        (-7, "UCS_ERR_INVALID_ADDR"),
        (-9, "UCS_ERR_MESSAGE_TRUNCATED: the message is longer than the room for it"),
        (-14, "UCS_ERR_NO_DEVICE: none of its transports can be used"),
        (-16, "UCS_ERR_CANCELED"),
        (-20, "UCS_ERR_TIMED_OUT"),
        (-22, "UCS_ERR_UNSUPPORTED"),
        (-24, "UCS_ERR_NOT_CONNECTED"),
        (-25, "UCS_ERR_CONNECTION_RESET: the other rank has gone"),
        (-80, "UCS_ERR_ENDPOINT_TIMEOUT: the other rank does not answer"),
    ];
    let words = known.iter().find(|(code, _)| *code == status).map(|(_, words)| (*words).to_owned());
    io::Error::other(words.unwrap_or_else(|| format!("UCX error {status}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_told_in_words() {
        check(0).unwrap();
        assert!(check(-6).unwrap_err().to_string().starts_with("UCS_ERR_UNREACHABLE"));
        assert_eq!(check(-99).unwrap_err().to_string(), "UCX error -99");
        assert_eq!(LAST_ERROR as Status, -100);
    }
}
