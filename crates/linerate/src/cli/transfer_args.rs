//! The command line of `linerate transfer`, in a file that the commands' own can read without knowing what it does.

use crate::cli::heading::{OUTPUT, WHAT};
use crate::cli::reach::Reach;
use crate::cli::value::{Read, Unfit, count, message_size, setting, target};
use crate::plan::{Setting, Target};
use crate::run::FileEnd;
use crate::unit::{Bytes, within};
use crate::vocabulary::{Knob, KnobKind};
use crate::workload::tool::TOOLS;
use clap::ValueHint;
use clap::builder::PossibleValuesParser;
use std::ffi::{OsStr, OsString};

/// What stands for memory in the place of a file.
const MEMORY: &str = "memory:";

/// No other program.
const NO_TOOL: &str = "none";

/// The cipher where none is named: what every implementation of TLS 1.3 must have (RFC 8446, section 9.1).
pub const CIPHER: &str = "aes-128-gcm";

/// The longest memory that is sent: it goes round in a block.
const LONGEST: u64 = 1 << 50;

/// Moves a file from one host to another, and says what held it up. Parallel streams take range after range; each is
/// verified by its BLAKE3 where it came, and the file has its name only once it is whole, verified and on the disk. What is
/// interrupted goes on from there when the same command is given again. The bytes cross the network as they are; --tls seals them.
#[derive(Debug, clap::Args)]
pub struct Transfer {
    /// `ssh://[user@]HOST[:PORT]`, two of these with a comma, `lab`, `lab:PRESET` or `lab:KEY=VALUE,…`, whose hosts have
    /// this machine's files.
    #[arg(value_name = "TARGET", value_parser = target(), hide_possible_values = true)]
    pub target: Target,
    /// The file or folder on the first host, which is this one where the target is one ssh://HOST; or memory:SIZE, so many
    /// bytes of no file.
    #[arg(value_name = "SOURCE", value_hint = ValueHint::FilePath, required_unless_present = "compare")]
    pub source: Option<OsString>,
    /// What it becomes on the second host, or a folder there to put it in; or memory, for nowhere.
    #[arg(value_name = "DESTINATION", required_unless_present = "compare")]
    pub destination: Option<OsString>,
    /// The other way: SOURCE is on the second host, DESTINATION on the first.
    #[arg(long, help_heading = WHAT)]
    pub pull: bool,
    /// Parallel streams.
    #[arg(long, value_name = "COUNT", default_value_t = 4, value_parser = count(1, 64), help_heading = WHAT)]
    pub streams: u32,
    /// Replace DESTINATION where it exists, once the new file is whole.
    #[arg(long, help_heading = WHAT)]
    pub overwrite: bool,
    /// Begin anew, whatever an earlier transfer to DESTINATION left.
    #[arg(long, help_heading = WHAT)]
    pub anew: bool,
    /// Seal what crosses by TLS 1.3, whose certificate is made for this transfer and goes by ssh: aes-128-gcm, aes-256-gcm or
    /// chacha20-poly1305, which suits CPUs without instructions for AES.
    #[arg(long, value_name = "CIPHER", num_args = 0..=1, require_equals = true, default_missing_value = CIPHER)]
    #[arg(value_parser = ciphers(), hide_possible_values = true, conflicts_with = "compare", help_heading = WHAT)]
    pub tls: Option<String>,
    /// Do not verify: no digests, and the kernel sends the file's pages by itself (sendfile).
    #[arg(long, help_heading = WHAT)]
    pub no_verify: bool,
    /// Do not wait until all is on the disk: the clock ends when it is written.
    #[arg(long, help_heading = WHAT)]
    pub no_sync: bool,
    /// Ask the kernel first to let the source's pages go (posix_fadvise), so that it is read from the disk.
    #[arg(long, help_heading = WHAT)]
    pub cold: bool,
    /// Read and write the file past the page cache (O_DIRECT, by io_uring), where its file system has that: what else is in
    /// memory there stays. What was granted is told.
    #[arg(long, help_heading = WHAT)]
    pub direct: bool,
    /// Set a knob of the streams: socket.send-buffer=256KiB, tcp.congestion-control=bbr. May be repeated.
    #[arg(long = "set", value_name = "KNOB=VALUE", value_parser = setting(), help_heading = WHAT)]
    #[arg(hide_possible_values = true)]
    pub set: Vec<Setting>,
    /// In a lab, in place of a file of yours: files of --sizes by this program and by every other one that this host has
    /// (scp, rsync, GridFTP and others), in turns, each until it is on the disk, and whole.
    #[arg(long, conflicts_with_all = ["source", "destination", "pull", "cold", "direct", "overwrite"], help_heading = WHAT)]
    pub compare: bool,
    /// The sizes of those files [default: 10MB,100MB].
    #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = message_size, requires = "compare")]
    #[arg(default_values = ["10MB", "100MB"], hide_default_value = true, help_heading = WHAT)]
    pub sizes: Vec<u64>,
    /// Beside those files a folder of so many small ones, of 4 to 64 KiB, by every program that moves folders.
    #[arg(long, value_name = "COUNT", value_parser = count(1, 50_000), requires = "compare", help_heading = WHAT)]
    pub files: Option<u32>,
    /// Where the files are that are moved: on a disk, below /var/tmp, or in memory, below /dev/shm.
    #[arg(long, value_name = "PLACE", value_parser = places(), default_value = "disk", requires = "compare")]
    #[arg(help_heading = WHAT)]
    pub from: String,
    /// Where they are moved to.
    #[arg(long, value_name = "PLACE", value_parser = places(), default_value = "disk", requires = "compare")]
    #[arg(help_heading = WHAT)]
    pub to: String,
    /// How many times each moves each: from 6 on a median has an interval.
    #[arg(long, value_name = "COUNT", default_value_t = 6, value_parser = count(1, 1000), requires = "compare")]
    #[arg(help_heading = WHAT)]
    pub rounds: u32,
    /// Who is behind runs no more: a program that takes ten times as long as the fastest is ended, and one that takes a tenth
    /// longer than this one in each of three rounds is measured no further.
    #[arg(long, requires = "compare", help_heading = WHAT)]
    pub race: bool,
    /// Only these programs beside this one; none is the word for none of them.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = tool_names(), requires = "compare")]
    #[arg(help_heading = WHAT)]
    pub tools: Vec<String>,
    #[command(flatten)]
    pub reach: Reach,
    /// No progress: only what came of it, and errors.
    #[arg(long, short, help_heading = OUTPUT)]
    pub quiet: bool,
    /// Print what came of it as one line of JSON.
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
}

impl Transfer {
    /// What is sent.
    pub fn source(&self) -> Read<FileEnd> {
        let source = self.source.clone().unwrap_or_default();
        let Some(size) = memory(&source) else { return Ok(FileEnd::Path(source.into())) };
        let [least, most] = [1, LONGEST].map(Bytes);
        match within(size.parse(), least, most, |size| size) {
            Ok(size) => Ok(FileEnd::Memory(size.0)),
            Err(why) => Err(Unfit {
                what: format!("the size after `{MEMORY}` is `{size}`: {why}"),
                hint: format!("try {MEMORY}1GiB; a file of that name is ./{MEMORY}{size}"),
            }),
        }
    }

    /// What it becomes.
    pub fn destination(&self) -> FileEnd {
        let destination = self.destination.clone().unwrap_or_default();
        match memory(&destination) {
            Some(_) => FileEnd::Memory(0),
            _ => FileEnd::Path(destination.into()),
        }
    }
}

/// The ciphers of TLS 1.3.
fn ciphers() -> PossibleValuesParser {
    values_of("tls.cipher")
}

/// Where a file can be.
fn places() -> PossibleValuesParser {
    values_of("file.from")
}

/// What a knob can be.
fn values_of(knob: &str) -> PossibleValuesParser {
    let kind = Knob::named(knob).map(|knob| knob.kind);
    PossibleValuesParser::new(match kind {
        Some(KnobKind::OneOf(names)) => names.to_vec(),
        _ => Vec::new(),
    })
}

/// The names of other programs, and the word for none.
fn tool_names() -> PossibleValuesParser {
    PossibleValuesParser::new(TOOLS.iter().map(|tool| tool.name).chain([NO_TOOL]))
}

/// What follows `memory:`, or nothing after `memory`; none of a path.
fn memory(text: &OsStr) -> Option<&str> {
    let text = text.to_str()?;
    if text == MEMORY.trim_end_matches(':') { Some("") } else { text.strip_prefix(MEMORY) }
}

#[cfg(test)]
mod tests {
    use crate::cli::args::{Args, Command};
    use crate::run::FileEnd;
    use clap::Parser;
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    fn parsed(source: OsString, destination: &str) -> (Result<FileEnd, String>, FileEnd) {
        let words = ["linerate", "transfer", "lab"].map(OsString::from);
        let words = words.into_iter().chain([source, destination.into()]);
        match Args::try_parse_from(words).map(|args| args.command) {
            Ok(Command::Transfer(args)) => (args.source().map_err(|unfit| unfit.what), args.destination()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn memory_is_no_path() {
        let path = |text: &str| FileEnd::Path(text.into());
        assert_eq!(
            parsed("memory:1MiB".into(), "memory"),
            (Ok(FileEnd::Memory(1 << 20)), FileEnd::Memory(0))
        );
        assert_eq!(parsed("./memory".into(), "memory2"), (Ok(path("./memory")), path("memory2")));
        for text in ["memory", "memory:", "memory:0", "memory:x"] {
            assert!(parsed(text.into(), "x").0.is_err(), "{text}");
        }
    }

    #[test]
    fn a_path_need_be_no_text() {
        let name = OsString::from_vec(b"/tmp/\xff\xfe".to_vec());
        assert_eq!(parsed(name.clone(), "x").0, Ok(FileEnd::Path(name.into())));
    }
}
