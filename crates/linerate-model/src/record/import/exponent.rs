//! Numbers whose plus was lost on the way, as `5.924e 06`: a form of the web reads a plus as a blank.

use std::borrow::Cow;

/// Puts a plus in each place of a text where one was lost, so that what stands in it stays where it was: digits, a point, digits, an `e`, a blank and two or three digits.
pub(super) fn mend(text: &mut Cow<'_, str>, doubts: &mut Vec<String>) {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_one = |at: usize| {
        let digits = (at + 1..at + 5).take_while(|at| is_digit(*at)).count();
        let after = bytes.get(at + 1 + digits);
        bytes[at] == b' '
            && at > 3
            && b"eE".contains(&bytes[at - 1])
            && has_fraction(&bytes[..at - 1])
            && (2..4).contains(&digits)
            && !after.is_some_and(|byte| byte.is_ascii_alphanumeric() || b".:".contains(byte))
    };
    let places: Vec<usize> = (0..bytes.len()).filter(|at| is_one(*at)).collect();
    if places.is_empty() {
        return;
    }
    let (mut made, mut from) = (String::with_capacity(text.len()), 0);
    for at in &places {
        made += &text[from..*at];
        made.push('+');
        from = at + 1;
    }
    made += &text[from..];
    let numbers = crate::unit::counted(places.len(), "number");
    doubts.push(format!("the plus of {numbers} was lost on the way, as in `5.924e 06`, and is read"));
    *text = made.into();
}

/// Whether digits, a point and digits stand at the end.
fn has_fraction(bytes: &[u8]) -> bool {
    let digits = |bytes: &[u8]| bytes.iter().rev().take(24).take_while(|byte| byte.is_ascii_digit()).count();
    let after = digits(bytes);
    let rest = &bytes[..bytes.len() - after];
    after > 0 && rest.ends_with(b".") && digits(&rest[..rest.len() - 1]) > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mended(text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        mend(&mut text, &mut Vec::new());
        text.into_owned()
    }

    #[test]
    fn a_plus_is_put_only_where_one_was() {
        assert_eq!(mended("a 5.924e 06\n1.5E 006 x"), "a 5.924e+06\n1.5E+006 x");
        for text in ["1 1.5 06", "1e 06", "h : 1.5e 06:00", "1.5e 6", "1.5e 0600", "1.5e 06a", ".5e 06"] {
            assert_eq!(mended(text), text);
        }
    }
}
