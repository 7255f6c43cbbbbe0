//! Programs of the system that a host's settings are made with: each reads a script, in the present network namespace.

use crate::{Error, Result};
use linerate_sys::spawn;
use std::io::{ErrorKind, Write};
use std::process::{Child, Command, Output, Stdio};

/// Where they are: an ordinary user's path may not have it.
const SYSTEM: &str = "/usr/sbin/";

/// A program, how it is called, and what helps where it is not there or refuses.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program {
    pub name: &'static str,
    pub arguments: &'static [&'static str],
    /// Variables that it is started with.
    pub variables: &'static [(&'static str, &'static str)],
    /// The package that it is of.
    pub package: &'static str,
    /// What the kernel must have.
    pub kernel: &'static str,
}

/// nft(8), which reads a script.
pub(super) const NFT: Program = Program {
    name: "nft",
    arguments: &["-f", "-"],
    variables: &[],
    package: "nftables",
    kernel: "the kernel needs CONFIG_NF_TABLES, and CONFIG_NFT_CT for the states of connections",
};

impl Program {
    /// Lets it read a script, and returns what it says.
    pub fn run(&self, script: &str) -> Result<String> {
        let mut child = self.start(self.arguments)?;
        // What it does not read it has refused, which it says itself.
        let _ = child.stdin.take().map(|mut input| input.write_all(script.as_bytes()));
        let output = self.end_of(child)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let first = said.lines().next().unwrap_or("it said nothing").trim();
        Err(Error::unavailable(format!("{} refuses: {first}", self.name), self.kernel))
    }

    /// Whether it is installed.
    pub fn is_there(&self) -> bool {
        self.start(&["--version"]).and_then(|child| self.end_of(child)).is_ok()
    }

    fn end_of(&self, child: Child) -> Result<Output> {
        child.wait_with_output().map_err(|e| Error::io("wait for", self.name, e))
    }

    fn start(&self, arguments: &[&str]) -> Result<Child> {
        for place in [self.name.to_owned(), format!("{SYSTEM}{}", self.name)] {
            let mut command = Command::new(place);
            command.args(arguments).envs(self.variables.iter().copied());
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            spawn::end_with_parent(&mut command);
            match command.spawn() {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                spawned => return spawned.map_err(|e| Error::io("start", self.name, e)),
            }
        }
        let what = format!("the program {} is not there", self.name);
        Err(Error::unavailable(what, format!("install it: apt install {}", self.package)))
    }
}
