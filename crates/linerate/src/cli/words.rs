//! What the help and the man pages say beside the options: examples, exit codes, environment, files.

use clap::builder::{StyledStr, Styles};

/// The words of one command.
pub struct Words {
    /// Its name; empty for the program itself.
    pub command: &'static str,
    /// Worked commands, and what each does.
    pub examples: &'static [(&'static str, &'static str)],
    /// The exit codes that it has beside those of all commands.
    pub exits: &'static [(u8, &'static str)],
    /// What else there is to know.
    pub note: &'static str,
}

const VERDICTS: &[(u8, &str)] = &[(0, "the same"), (10, "different"), (11, "cannot tell")];

/// Exit codes that any command may have; the kinds of errors are those of `Error`.
pub const EXITS: &[(u8, &str)] = &[
    (0, "done, or nobody reads standard output any more"),
    (2, "the arguments or the configuration file cannot be followed"),
    (3, "the kernel, the privileges or a missing program do not allow it"),
    (4, "the other end failed or vanished"),
    (5, "a system call failed: no space, no permission, no such file"),
    (6, "a recording, or a file to import, cannot be read"),
    (12, "something was not measured that could have been; the rest is"),
    (130, "stopped by a signal (INT, TERM or HUP alike), or by a key; what was measured until then is kept"),
];

/// What the program reads of the environment, beside what its options name.
pub const ENVIRONMENT: &[(&str, &str)] = &[
    ("LINERATE_CONFIG", "the configuration file; where it is empty, none is read"),
    ("XDG_CONFIG_HOME", "where the configuration file is looked for, instead of ~/.config"),
    ("XDG_STATE_HOME", "where calibrations and the history are kept, instead of ~/.local/state"),
    ("NO_COLOR", "when set and not empty, nothing is coloured"),
];

/// The files of the program.
pub const FILES: &[(&str, &str)] = &[
    ("linerate/TARGET-DATE.jsonl", "a recording: one file a run, in the folder that --output names"),
    ("~/.config/linerate/config.toml", "defaults of the options: see `linerate config`"),
    ("~/.local/state/linerate", "calibrations and the medians of earlier runs"),
    (
        "~/.cache/linerate",
        "on a host reached by ssh: the program's own copy, where --remote-dir names no other folder",
    ),
];

/// The words of all commands.
pub const WORDS: &[Words] = &[
    Words {
        command: "",
        examples: &[
            ("linerate run lab", "the whole ladder on a virtual pair of hosts: no set-up, no root"),
            ("linerate run lab:rate=1Gb/s,mtu=9000", "the same over a link whose truth is known"),
            ("linerate run ssh://node7", "from this host to node7, which needs nothing but sshd"),
            (
                "linerate run ssh://node1,ssh://node2 --profile quick --only network",
                "only the network rungs, between two other hosts",
            ),
            (
                "linerate ab lab --set tcp.congestion-control=reno",
                "whether a setting makes a difference, proved in randomised blocks",
            ),
            (
                "linerate report linerate/lab-2026-11-21T14-02-11.jsonl --format csv",
                "the numbers of an earlier run",
            ),
            ("linerate explain sender-cpu", "what a name in a report means, and what to try"),
        ],
        exits: EXITS,
        note: "`linerate doctor` says what this host can do and how to get what is missing.\n\
               `linerate COMMAND --help` shows a command's options and more examples.\n\
               `linerate config` shows where defaults of the options may be kept.",
    },
    Words {
        command: "run",
        examples: &[
            ("linerate run lab", "two virtual hosts on this machine"),
            ("linerate run lab --profile quick --only network.tcp", "one rung, in a minute"),
            ("linerate run ssh://root@node7:2222 --address b=192.0.2.7", "over the address of a fast link"),
            (
                "linerate run lab --set socket.send-buffer=256KiB --set network:tcp.no-delay=on",
                "with knobs set",
            ),
            (
                "linerate run lab:delay=5ms --fault loss=0.1%",
                "with a known fault, which must be found; `linerate list faults` shows more",
            ),
            ("linerate run simulated:step=64KiB/3ms --seed 1", "on a made-up machine, the same each time"),
        ],
        exits: &[],
        note: "Ctrl-C ends a run in good order: what was measured is kept and reported.\n\
               The last line of the output is the recording; `linerate report` shows it again.",
    },
    Words {
        command: "ab",
        examples: &[
            ("linerate ab lab --set tcp.congestion-control=reno", "one candidate against the base"),
            (
                "linerate ab lab --set socket.send-buffer=64KiB,256KiB,1MiB --blocks 20",
                "three levels of one knob",
            ),
            (
                "linerate ab lab --set socket.send-buffer=1MiB+socket.receive-buffer=1MiB",
                "two knobs that are set together",
            ),
            (
                "linerate ab ssh://node7 --metric latency --set tcp.no-delay=off --base cpu.placement=0/1",
                "by the latency of small messages, everything on the same CPUs",
            ),
            (
                "linerate ab lab:hosts=3 --application microscope --set pipeline.transport=tls",
                "what sealing costs an application, by its own metric",
            ),
            (
                "linerate ab simulated:noise=4% --set shim.slowdown=3",
                "on a made-up machine, where the truth is known: 3 % slower",
            ),
        ],
        exits: VERDICTS,
        note: "The settings are compared with what holds without them, in randomised blocks with new connections,\n\
               beside an A/A control that must not differ and a slowed one that must.\n\
               The same is proved too: the difference lies within the margin. Each candidate is compared block \
               by\nblock with the base; at the first of two looks and at the second, half of 5 % may err.",
    },
    Words {
        command: "diagnose",
        examples: &[
            ("linerate diagnose ssh://node7", "why a stream to node7 is no faster"),
            ("linerate diagnose --port 5201", "what the connections of a program that runs wait for"),
            (
                "linerate diagnose lab:delay=10ms --base socket.send-buffer=64KiB",
                "a path whose fault is known: a program that pins its send buffer",
            ),
            (
                "linerate diagnose ssh://node7 --against 40Gb/s --format json",
                "a grade, a gain and its evidence for each cause, and the share of what is missing that it explains",
            ),
            (
                "linerate diagnose simulated:cause=packet-loss/2 --profile quick",
                "what it says of a made-up machine with a known cause",
            ),
        ],
        exits: VERDICTS,
        note: "Only the test's own sockets are changed. `linerate list causes` shows what is looked for, and by what change.\n\
               10 is a fault that is proved, 0 that each which shows a sign is ruled out within the margin.",
    },
    Words {
        command: "transfer",
        examples: &[
            (
                "linerate transfer ssh://node7 disk.img /scratch/",
                "a file of this host into a folder of node7",
            ),
            ("linerate transfer ssh://node7 /scratch/disk.img . --pull", "and back"),
            (
                "linerate transfer lab:metro memory:256MiB memory",
                "without disks, over a path whose truth is known",
            ),
        ],
        exits: &[],
        note: "Until it is whole it is DESTINATION.linerate-part, beside DESTINATION.linerate-journal; the same\n\
               command goes on from there. Nothing that exists is replaced without --overwrite.\n\
               The bytes cross as they are, verified; --tls seals them. `bound` is what took most of the time, and\n\
               what a perfect fix of it would give at most.",
    },
    Words {
        command: "trace",
        examples: &[
            ("linerate trace lab", "a message of 64 B and its answer, sleeping and polling"),
            ("linerate trace ssh://node7 --wait sleep --page trace.html", "to node7 and back, with a page"),
            (
                "linerate trace lab:delay=1ms --bytes 1000",
                "over a path whose truth is known: the delay is in `wire`",
            ),
            (
                "linerate trace lab --stream --page stream.html",
                "what a stream costs both hosts, with a time line",
            ),
        ],
        exits: &[],
        note: "Every stage is stamped by the clock of the host that it is on; the wire is what remains. `tax` is what the\n\
               stamps cost, measured against blocks without any. `linerate list stages` tells what each stage is.",
    },
    Words {
        command: "capture",
        examples: &[
            ("linerate capture lab stream.pcapng", "4 MiB between two virtual hosts"),
            (
                "linerate capture lab:delay=2ms,loss=1% --page stream.html",
                "with losses, and a page of what was in flight",
            ),
            (
                "linerate capture ssh://root@node7 stream.pcapng --bytes 64MiB",
                "to node7, where root is asked for",
            ),
        ],
        exits: &[],
        note: "Of each packet the first 128 bytes are kept, of this connection alone. Packet sockets ask for CAP_NET_RAW, which\n\
               a lab's hosts have.",
    },
    Words {
        command: "tune",
        examples: &[
            ("linerate tune ssh://node7", "which settings of a program's sockets gain on the way to node7"),
            ("linerate tune lab --dry-run", "what would be tried, and why the rest would not"),
            (
                "linerate tune lab:delay=200us --base socket.send-buffer=64KiB --knob socket.send-buffer",
                "a path whose fault is known: a program that pins its send buffer",
            ),
            ("linerate tune ssh://node7 --allow host", "settings of the hosts too; each is put back"),
        ],
        exits: &[(0, "a gain is proved"), (10, "nothing that was tried gains"), (11, "cannot tell")],
        note: "A race leaves out after 5 blocks who is shown to gain less than the margin or is beaten; the rest run 12.\n\
               The best is measured again in 6 fresh blocks, and becomes what the next race stands upon.",
    },
    Words {
        command: "matrix",
        examples: &[
            ("linerate matrix lab:hosts=5", "five virtual hosts that are alike: nobody is to be named"),
            ("linerate matrix ssh://node[01-64]", "64 hosts in 16 rounds: who sends or receives too slowly"),
            ("linerate matrix ssh://node[01-16] --full", "each host with every other one: single links too"),
            ("linerate matrix ssh://a,b,c,d,e --format json", "named[] for a script, as before a batch job"),
        ],
        exits: &[
            (0, "nobody is slow"),
            (10, "somebody is named"),
            (11, "cannot tell"),
            (12, "a host was not measured"),
        ],
        note: "A host takes four partners at least. A single link is looked for among those that were measured:\n\
               --full measures all of them. A host that fails is a line of the report, and the others are told of.",
    },
    Words {
        command: "undo",
        examples: &[
            ("linerate undo", "what `linerate tune --apply` left in force, or a killed search left behind"),
            ("ssh node7 linerate undo", "the same on another host"),
        ],
        exits: &[],
        note: "The next command that measures puts back by itself what a killed search left; what --apply left stays until\n\
               this is called, or the host starts anew.",
    },
    Words {
        command: "resume",
        examples: &[
            ("linerate resume linerate/lab-2026-11-21T14-02-11.jsonl", "on with a run that was cut"),
            (
                "linerate resume --trust linerate/launch-2026-11-21T14-02-11.jsonl",
                "the same where hosts are reached by a command of one's own",
            ),
        ],
        exits: &[],
        note: "A step that was under way is measured again, and nothing else is. What fails differently now than then is\n\
               refused: another version, other hosts, other CPUs, a run that is whole.",
    },
    Words {
        command: "history",
        examples: &[
            ("linerate history", "all that is kept"),
            (
                "linerate history lab --keep before-upgrade",
                "the runs so far get a name, to compare later ones with",
            ),
            ("linerate history --format csv", "a line a run and figure, for a program"),
        ],
        exits: &[],
        note: "A history is of one plan on the same hosts; the latest 200 runs of it are shown. A change has four runs at least on\n\
               each side, and of histories without any at most 1 in 100 shows one.",
    },
    Words {
        command: "compare",
        examples: &[
            ("linerate compare --baseline before-upgrade", "the runs since with those that have the name"),
            ("linerate compare before/ after/", "two folders of recordings, at least 6 in each"),
            (
                "linerate compare monday.jsonl tuesday.jsonl",
                "one run a side: shows both and the ratio, and cannot tell",
            ),
        ],
        exits: VERDICTS,
        note: "All recordings of one side are compared with all of the other. It takes at least 6 runs a side to\n\
               tell a difference from the spread between runs; `linerate ab` needs one run.",
    },
    Words {
        command: "report",
        examples: &[
            ("linerate report linerate/lab-2026-11-21T14-02-11.jsonl", "the report, as the run printed it"),
            ("linerate report linerate/lab-2026-11-21T14-02-11.jsonl --format json", "for a program"),
            (
                "linerate report before.jsonl after.jsonl --format html --output both.html",
                "one page with two recordings beside each other",
            ),
            (
                "linerate report lab.jsonl --format svg --output figures",
                "each figure as a file, for a paper or slides",
            ),
            ("linerate report lab.jsonl --format tables --output tables", "each table as a CSV file"),
            ("linerate report lab.jsonl --format openmetrics --output linerate.prom", "for Prometheus"),
            ("linerate report lab.jsonl --format iperf3", "a long stream, for what reads the JSON of iperf3"),
        ],
        exits: &[],
        note: "A recording that was cut off is read as far as it goes; lines that cannot be read are named.",
    },
    Words {
        command: "import",
        examples: &[
            (
                "linerate import iperf3.json",
                "one run of `iperf3 -c HOST -J`: a recording in the folder linerate",
            ),
            (
                "linerate import before-*.json --output before",
                "several runs: a recording each, for `linerate compare before/ after/`",
            ),
            ("iperf3 -c HOST -J | linerate import -", "what a tool prints, without a file between"),
            ("linerate import np.out --tool netpipe", "the tool named, where its content does not tell"),
        ],
        exits: &[],
        note: "Either all files are imported or none. Each line printed is a recording; what a file does not\n\
               say, and had to be taken as usual, is a warning. `linerate explain TOOL` tells how a tool measures.",
    },
    Words {
        command: "calibrate",
        examples: &[
            ("linerate calibrate", "this machine, and how far six equal runs in the lab lie apart"),
            (
                "linerate calibrate ssh://node7 --runs 12 --only network.tcp",
                "the same with node7, on one rung",
            ),
        ],
        exits: &[],
        note: "What comes of it is kept in the folder that --state names; later runs and reports use it.",
    },
    Words {
        command: "doctor",
        examples: &[
            ("linerate doctor", "every check; what is not in order has its remedy below it"),
            ("linerate doctor | grep -A2 missing", "only what is missing"),
        ],
        exits: &[],
        note: "",
    },
    Words {
        command: "lab",
        examples: &[
            ("linerate lab up --detach", "two virtual hosts, until `linerate lab down`"),
            ("linerate lab exec b -- hostname", "a command on one of them"),
            ("linerate lab down", "and they are gone"),
        ],
        exits: &[],
        note: "`linerate lab exec` answers with the exit code of its command.",
    },
    Words {
        command: "list",
        examples: &[
            ("linerate list", "every table"),
            ("linerate list knobs", "what may be written after --set, with what holds without it"),
        ],
        exits: &[],
        note: "`linerate explain NAME` tells more of one name.",
    },
    Words {
        command: "explain",
        examples: &[
            ("linerate explain sender-cpu", "a bound: when it holds, and what to try"),
            ("linerate explain half-round-trip", "a metric: its formula and its source"),
            ("linerate explain", "all names"),
        ],
        exits: &[],
        note: "",
    },
    Words {
        command: "config",
        examples: &[
            ("linerate config", "which file is read, and what it sets"),
            (
                "mkdir -p ~/.config/linerate && linerate config --example > ~/.config/linerate/config.toml",
                "a file to begin with: every key, each commented out",
            ),
            ("LINERATE_CONFIG= linerate run lab", "a run that takes nothing from the file"),
        ],
        exits: &[],
        note: "The file is $LINERATE_CONFIG, else $XDG_CONFIG_HOME/linerate/config.toml, else\n\
               ~/.config/linerate/config.toml. A table is named after a command, a key after a long option:\n\n  \
               [default]\n  quiet = true\n\n  [run]\n  profile = \"quick\"\n  only = [\"network\"]\n\n\
               [default] holds for each command that has the option. A command's own table wins over it, the\n\
               environment over both, and the command line over all. A recording says what came from the file.",
    },
    Words {
        command: "completions",
        examples: &[
            (
                "linerate completions bash > ~/.local/share/bash-completion/completions/linerate",
                "bash, with the package bash-completion",
            ),
            (
                "linerate completions zsh > ~/.zfunc/_linerate",
                "zsh, where `fpath+=~/.zfunc` stands before compinit",
            ),
            ("linerate completions fish > ~/.config/fish/completions/linerate.fish", "fish"),
            ("linerate completions elvish >> ~/.config/elvish/rc.elv", "elvish"),
            ("linerate completions powershell >> $PROFILE", "PowerShell"),
        ],
        exits: &[],
        note: "A new shell has them. `source <(linerate completions bash)` tries them in this one.",
    },
    Words {
        command: "man",
        examples: &[
            ("linerate man | man -l -", "reads the page of the program"),
            ("linerate man ~/.local/share/man/man1", "all pages, where `man linerate-run` finds them"),
        ],
        exits: &[],
        note: "",
    },
];

impl Words {
    /// The words of a command, where there are any.
    pub fn for_command(command: &str) -> Option<&'static Words> {
        WORDS.iter().find(|words| words.command == command)
    }

    /// What stands below the options in `--help`.
    pub fn help(&self) -> StyledStr {
        let style = *Styles::default().get_header();
        let heading = |text: &str| format!("{style}{text}:{style:#}\n");
        let mut text = heading("Examples");
        text.extend(self.examples.iter().map(|(command, what)| format!("  {command}\n      {what}\n")));
        if !self.exits.is_empty() {
            text += &format!("\n{}", heading("Exit codes"));
            text.extend(self.exits.iter().map(|(code, what)| format!("  {code:>3}  {what}\n")));
        }
        if !self.note.is_empty() {
            text += &format!("\n{}", self.note);
        }
        StyledStr::from(text.trim_end().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command::command;

    #[test]
    fn every_example_is_a_command_line() {
        for (line, _) in WORDS.iter().flat_map(|words| words.examples) {
            let start = line.find(" linerate ").filter(|_| !line.starts_with("linerate "));
            let call = &line[start.map_or(0, |at| at + 1)..];
            let words: Vec<&str> =
                call.split_whitespace().take_while(|word| !"|>>&&".contains(word)).collect();
            let parsed = command().try_get_matches_from(&words);
            assert!(
                parsed.is_ok(),
                "{line}: {}",
                parsed.map_or_else(|error| error.to_string(), |_| String::new())
            );
        }
    }

    #[test]
    fn every_exit_code_is_explained() {
        for code in [2, 3, 4, 5, 6, 12, 130] {
            assert!(EXITS.iter().any(|(known, _)| *known == code), "{code}");
        }
    }

    #[test]
    fn every_command_that_is_told_of_is_there() {
        for words in WORDS.iter().filter(|words| !words.command.is_empty()) {
            assert!(command().find_subcommand(words.command).is_some(), "{}", words.command);
        }
    }
}
