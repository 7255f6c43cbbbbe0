//! LAM/MPI 7: daemons first, then ranks.

use super::{Launch, LaunchDaemons, MpiMaker, Ranks};

/// `lam`.
pub const LAM: MpiMaker = MpiMaker {
    name: "lam",
    version_word: "LAM/MPI",
    has_mpich_abi: false,
    // It has no word for its version, but a name of its own.
    launcher_words: &[],
    launch: Some(Launch {
        // What Debian's prefers. Another installation may prefer spin locks, and would poll.
        within: Ranks {
            arguments: ARGUMENTS,
            each: &["n0"],
            environment: &[("LAM_MPI_SSI_rpi", "sysv")],
            export: EXPORT,
        },
        // Shared memory within a host is TCP between two.
        across: Ranks {
            arguments: ARGUMENTS,
            each: &["n{number}"],
            environment: &[("LAM_MPI_SSI_rpi", "tcp")],
            export: EXPORT,
        },
        daemons: Some(LaunchDaemons {
            // By one command for each other host.
            start: &["lamboot", "-H", "-b", "-np"],
            end: &["lamhalt", "-H"],
            folder: "LAM_MPI_SESSION_PREFIX",
            shell: "LAMRSH",
            refuse_root: true,
        }),
    }),
};

/// Ranks go to a folder that each host has.
const ARGUMENTS: &[&str] = &["-wd", "/"];
const EXPORT: Option<&str> = Some("-x");

/// How its messages travel.
pub const LAM_RPIS: &[&str] = &["tcp", "crtcp", "lamd", "sysv", "usysv"];
