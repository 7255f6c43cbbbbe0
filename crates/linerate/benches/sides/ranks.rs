//! Two ranks of an MPI that are this program again, with a reference that the library's own compiler made.

use linerate::transport::foreign::library::Found;
use linerate::vocabulary::MPI_MAKERS;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The end of a process that is a rank: one whose first argument says so.
pub fn as_rank(arguments: &[String], rank: fn(&[String]) -> Result<(), String>) -> Option<ExitCode> {
    let (first, more) = arguments.split_first()?;
    let played = (first == "rank").then(|| rank(more))?;
    Some(played.map_or_else(
        |why| {
            eprintln!("{why}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    ))
}

/// A reference by a library's own compiler: beside its launcher, under the like name.
pub fn compiled(found: &Found, source: &str, folder: &Path) -> Option<PathBuf> {
    let launcher = found.launcher.as_ref()?;
    let name = launcher.file_name()?.to_str()?;
    let compiler =
        name.replace("mpirun", "mpicc").replace("mpiexec.hydra", "mpicc").replace("mpiexec", "mpicc");
    let (text, library) = (folder.join("reference.c"), folder.join(format!("reference-{name}.so")));
    std::fs::write(&text, source).ok()?;
    let mut command = Command::new(launcher.with_file_name(compiler));
    command.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library).arg(&text);
    command.status().ok()?.success().then_some(library)
}

/// What two ranks say, each line without the mark that it begins with: their arguments are `rank`, the library, its ABI, the
/// reference and `more`.
pub fn played(found: &Found, reference: &Path, more: &[String], mark: &str) -> Result<Vec<String>, String> {
    let identity = found.identity.as_ref().map_err(Clone::clone)?;
    let launcher = found.launcher.as_ref().ok_or("it has no launcher")?;
    let maker = MPI_MAKERS.iter().find(|maker| maker.name == identity.name);
    let launch = maker.and_then(|maker| maker.launch.as_ref()).ok_or("how it starts ranks is not known")?;
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(launcher);
    command.args(launch.within.arguments).envs(launch.within.environment.iter().copied());
    for number in 0..2 {
        let each = launch.within.each.iter().map(|word| word.replace("{ranks}", "1").replace("{all}", "2"));
        command.args((number > 0).then_some(":")).args(each).arg(&program).arg("rank");
        command.arg(&found.path).arg(identity.abi.as_deref().unwrap_or_default());
        command.arg(reference).args(more);
    }
    let output = command.output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout);
    let answers = said.lines().filter_map(|line| line.strip_prefix(mark));
    let answers: Vec<String> = answers.map(str::to_owned).collect();
    match answers.is_empty() {
        true => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        false => Ok(answers),
    }
}
