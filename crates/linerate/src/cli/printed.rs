//! What this program printed for other programs and is no recording: what it is, and what to take in its place.

use crate::Error;
use serde_json::Value;

/// How much of a file is looked at for its kind.
const LARGEST: usize = 64 << 20;

/// One kind of it, by the name of its schema.
struct Kind {
    schema: &'static str,
    what: &'static str,
    hint: &'static str,
}

/// What the commands print whose work is not recorded.
const FOR_PROGRAMS: &str = "it is there for programs (jq); without --json the same command tells it in words";

/// Every kind.
const KINDS: &[Kind] = &[
    Kind { schema: "linerate.transfer-report/", what: "`linerate transfer --json`", hint: FOR_PROGRAMS },
    Kind {
        schema: "linerate.transfers-report/",
        what: "`linerate transfer --compare --json`",
        hint: FOR_PROGRAMS,
    },
    Kind { schema: "linerate.trace-report/", what: "`linerate trace --json`", hint: FOR_PROGRAMS },
    Kind {
        schema: "linerate.stream-trace-report/",
        what: "`linerate trace --stream --json`",
        hint: FOR_PROGRAMS,
    },
    Kind {
        schema: "linerate.running-trace-report/",
        what: "`linerate trace --json` of a running program",
        hint: FOR_PROGRAMS,
    },
    Kind {
        schema: "linerate.running-report/",
        what: "`linerate diagnose --json` of a running program",
        hint: FOR_PROGRAMS,
    },
    Kind { schema: "linerate.capture-report/", what: "`linerate capture --json`", hint: FOR_PROGRAMS },
    Kind {
        schema: "linerate.report/",
        what: "a report as JSON",
        hint: "take the recording that it was made of: its name ends in .jsonl",
    },
    Kind {
        schema: "linerate.compare/",
        what: "`linerate compare --json`",
        hint: "take the recordings that were compared: their names end in .jsonl",
    },
    Kind {
        schema: "linerate.history/",
        what: "`linerate history --json`",
        hint: "take the recordings that it names: their names end in .jsonl",
    },
];

/// What to say of a file that is one of these; none of any other.
pub fn printed(bytes: &[u8], name: &str) -> Option<Error> {
    let told: Value = serde_json::from_slice(bytes.get(..LARGEST).unwrap_or(bytes)).ok()?;
    let schema = told.get("schema")?.as_str()?;
    let kind = KINDS.iter().find(|kind| schema.starts_with(kind.schema))?;
    Some(Error::Import {
        file: name.into(),
        what: format!("it is no recording but the output of this program: {}", kind.what),
        hint: kind.hint.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Transfer;
    use crate::report::transfer_json;

    #[test]
    fn what_this_program_printed_is_told() {
        let text = transfer_json(&Transfer::default()).to_string();
        let error = printed(text.as_bytes(), "moved.json").unwrap();
        assert!(error.to_string().contains("moved.json: it is no recording"), "{error}");
        assert!(error.to_string().contains("`linerate transfer --json`"), "{error}");
        assert!(error.hint().unwrap().contains("without --json"));
        for other in ["", "{}", "[1]", "{\"schema\": 3}", "{\"schema\": \"linerate.recording/1\"}", "\u{0}"] {
            assert!(printed(other.as_bytes(), "x").is_none(), "{other}");
        }
    }
}
