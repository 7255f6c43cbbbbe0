//! Damaged files: bytes changed, taken out, put in, doubled, cut. Each is refused with words or gives finite numbers.

use super::{Told, each, files, tool};
use linerate::vocabulary::TOOLS;
use proptest::prelude::*;
use proptest::sample::Index;

/// What is done to a file.
#[derive(Debug, Clone)]
enum Damage {
    Change(Index, u8),
    TakeOut(Index, usize),
    PutIn(Index, Vec<u8>),
    Double(Index, usize),
    Cut(Index),
}

/// Words that a reader of numbers trips over.
const WORDS: [&str; 14] = [
    "nan",
    "inf",
    "-1",
    "-0.5",
    "1e999",
    "1e308",
    "99999999999999999999",
    "0",
    "",
    "\n",
    "\t",
    "[[[[",
    "\"",
    "\u{fffd}",
];

fn damage() -> impl Strategy<Value = Damage> {
    let word = (any::<Index>(), prop::sample::select(WORDS.to_vec()))
        .prop_map(|(at, word)| Damage::PutIn(at, word.as_bytes().to_vec()));
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Change(at, byte)),
        (any::<Index>(), 1..200usize).prop_map(|(at, count)| Damage::TakeOut(at, count)),
        (any::<Index>(), prop::collection::vec(any::<u8>(), 1..20))
            .prop_map(|(at, bytes)| Damage::PutIn(at, bytes)),
        word,
        (any::<Index>(), 1..400usize).prop_map(|(at, count)| Damage::Double(at, count)),
        any::<Index>().prop_map(Damage::Cut),
    ]
}

fn damaged(bytes: &[u8], damages: &[Damage]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for damage in damages {
        let place = |at: &Index| at.index(bytes.len() + 1);
        match damage {
            Damage::Change(at, byte) => {
                let at = place(at);
                bytes.splice(at..bytes.len().min(at + 1), [*byte]);
            }
            Damage::TakeOut(at, count) => {
                let at = place(at);
                bytes.drain(at..bytes.len().min(at + count));
            }
            Damage::PutIn(at, more) => {
                let at = place(at);
                bytes.splice(at..at, more.iter().copied());
            }
            Damage::Double(at, count) => {
                let at = place(at);
                let part = bytes[at..bytes.len().min(at + count)].to_vec();
                bytes.splice(at..at, part);
            }
            Damage::Cut(at) => bytes.truncate(place(at)),
        }
    }
    bytes
}

/// What holds of everything that is read.
fn is_sound(told: &Told) -> Result<(), TestCaseError> {
    for row in &told.rows {
        prop_assert!(
            !row.values.is_empty() && row.values.iter().all(|value| value.is_finite() && *value >= 0.0),
            "{row:?}"
        );
        prop_assert!(row.at_s.iter().flatten().all(|at| at.is_finite() && *at >= 0.0), "{row:?}");
        prop_assert!(row.at_s.is_empty() || row.at_s.len() == row.values.len(), "{row:?}");
        prop_assert!(!row.unit.is_empty() && !row.field.is_empty() && !row.test.contains('\n'), "{row:?}");
    }
    Ok(())
}

fn reads_or_refuses(bytes: &[u8], name: Option<&str>) -> Result<(), TestCaseError> {
    match each(bytes, name) {
        Ok(runs) => {
            let kept: String = runs.iter().map(|told| told.original.as_str()).collect();
            // Other encodings are kept as what they say.
            let is_plain =
                std::str::from_utf8(bytes).is_ok_and(|text| text.contains('\n') && !text.contains('\0'));
            if is_plain && !bytes.starts_with(b"\xef\xbb\xbf") {
                prop_assert_eq!(kept.as_bytes(), bytes);
            }
            runs.iter().try_for_each(is_sound)
        }
        Err(refusal) => {
            prop_assert!(
                !refusal.what.is_empty() && !refusal.hint.is_empty() && !refusal.what.contains('\n'),
                "{refusal:?}"
            );
            Ok(())
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn damaged_files_are_refused_or_finite(
        which in any::<Index>(),
        damages in prop::collection::vec(damage(), 1..8),
    ) {
        let files = files();
        let (name, bytes) = &files[which.index(files.len())];
        let bytes = damaged(bytes, &damages);
        reads_or_refuses(&bytes, None)?;
        reads_or_refuses(&bytes, Some(tool(name)))?;
    }

    #[test]
    fn files_read_as_anothers_are_refused_or_finite(
        which in any::<Index>(),
        other in any::<Index>(),
        damages in prop::collection::vec(damage(), 0..3),
    ) {
        let files = files();
        let (_, bytes) = &files[which.index(files.len())];
        reads_or_refuses(&damaged(bytes, &damages), Some(TOOLS[other.index(TOOLS.len())].name))?;
    }

    #[test]
    fn random_text_is_of_no_tool(text in "\\PC{0,400}", which in any::<Index>()) {
        reads_or_refuses(text.as_bytes(), Some(TOOLS[which.index(TOOLS.len())].name))?;
        reads_or_refuses(text.as_bytes(), None)?;
    }
}
