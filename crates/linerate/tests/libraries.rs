//! The message libraries of this host, the real ones and ones that are broken on purpose, as `linerate doctor` finds them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The lines of `linerate doctor` about libraries, with folders of further ones.
fn told(folder: Option<&Path>) -> Vec<String> {
    let mut command = doctor();
    command.env("LD_LIBRARY_PATH", folder.unwrap_or(Path::new("")));
    told_by(command)
}

fn doctor() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.arg("doctor").env("LD_LIBRARY_PATH", "");
    command
}

fn told_by(mut command: Command) -> Vec<String> {
    let state = TempDir::new().unwrap();
    let output = command.env("LINERATE_STATE", state.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|line| line.contains("  library: ")).map(String::from).collect()
}

/// The one line that has all these words.
fn line<'l>(lines: &'l [String], words: &[&str]) -> &'l str {
    let found: Vec<&String> =
        lines.iter().filter(|line| words.iter().all(|word| line.contains(word))).collect();
    assert_eq!(found.len(), 1, "{words:?} in {lines:#?}");
    found[0]
}

#[test]
fn libraries_have_version_abi_and_launcher() {
    let lines = told(None);
    let wanted: [&[&str]; 5] = [
        &["ok", "openmpi ", "Open MPI v", "ABI openmpi", "libmpi.so.40", "started by", "mpirun"],
        &["ok", "mpich ", "MPICH Version: ", "ABI mpich", "libmpich.so.12", "started by", "mpich"],
        &["ok", "lam ", "LAM/MPI, MPI 1.2", "ABI lam", "liblam.so.4", "started by", "lam"],
        &["ok", "pvm ", "3.4", "libpvm3.so.3", "started by", "pvm"],
        &["ok", "oshmem ", "OpenSHMEM 1.", " of Open MPI v", "liboshmem.so.40", "started by", "oshrun"],
    ];
    for words in wanted {
        line(&lines, words);
    }
}

/// A shared library of this source, under a name that is looked for.
fn made(folder: &Path, name: &str, source: &str) -> PathBuf {
    let (file, path) = (folder.join("source.c"), folder.join(name));
    std::fs::write(&file, source).unwrap();
    let status = Command::new("gcc").args(["-shared", "-fPIC", "-o"]).arg(&path).arg(&file).status().unwrap();
    assert!(status.success());
    path
}

/// What is told of one such library.
fn told_of(name: &str, source: &str) -> String {
    let folder = TempDir::new().unwrap();
    made(folder.path(), name, source);
    let path = std::fs::canonicalize(folder.path()).unwrap();
    line(&told(Some(folder.path())), &[path.to_str().unwrap()]).to_owned()
}

#[test]
fn an_unknown_mpi_is_refused() {
    let source = "int MPI_Init(int *c, char ***v) { return 0; }
        int MPI_Get_library_version(char *t, int *n) { *n = 3; t[0] = 'M'; t[1] = 'P'; t[2] = 'T'; t[3] = 0; return 0; }";
    let line = told_of("libmpi.so.12", source);
    assert!(line.starts_with("limited") && line.contains("is an MPI of an unknown ABI: MPT"), "{line}");
}

#[test]
fn an_unknown_openshmem_is_refused() {
    let told = "void shmem_info_get_version(int *a, int *b) { *a = 1; *b = 5; }
        void shmem_info_get_name(char *t) { __builtin_strcpy(t, \"Other SHMEM\"); }";
    let line = told_of("libsma.so.1", &format!("void shmem_init(void) {{}} {told}"));
    let why = "is an OpenSHMEM of an unknown maker: Other SHMEM";
    assert!(line.starts_with("limited") && line.contains(why), "{line}");
    let line = told_of("libsma.so.1", "void shmem_init(void) {}");
    assert!(line.contains("is an OpenSHMEM that does not tell its maker"), "{line}");
}

#[test]
fn a_tcgmsg_over_an_unknown_mpi_is_refused() {
    let line = told_of("libtcgmsg.so", "void tcg_snd(void) {}");
    assert!(
        line.starts_with("limited") && line.contains("is a TCGMSG over what is not known to start it"),
        "{line}"
    );
}

#[test]
fn what_a_library_prints_is_no_answer() {
    let source = "#include <stdio.h>
        __attribute__((constructor)) static void chat(void) { printf(\"{\\\"Ok\\\":1}\"); fflush(stdout); }
        int MPI_Init(int *c, char ***v) { return 0; }
        int MPI_Abi_get_version(int *a, int *b) { *a = 1; *b = 0; return 0; }
        int MPI_Get_library_version(char *t, int *n) { *n = 1; t[0] = 'X'; t[1] = 0; return 0; }";
    let line = told_of("libmpi_abi.so.1", source);
    assert!(line.contains("ABI standard") && line.contains(" X,"), "{line}");
}

#[test]
fn a_library_that_breaks_loading_is_a_line() {
    let aborts = "#include <stdlib.h>
        __attribute__((constructor)) static void end(void) { abort(); }";
    let line = told_of("libmpi.so.40", aborts);
    assert!(
        line.starts_with("limited") && line.contains("loading it failed") && line.contains("signal"),
        "{line}"
    );
    let hangs = "#include <unistd.h>
        __attribute__((constructor)) static void stay(void) { for (;;) pause(); }";
    let begun = Instant::now();
    let line = told_of("libmpi.so.40", hangs);
    assert!(line.contains("loading it took more than 10 s"), "{line}");
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
}

#[test]
fn a_library_of_another_machine_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = made(folder.path(), "libmpi.so.12", "int MPI_Init(int *c, char ***v) { return 0; }");
    let mut bytes = std::fs::read(&path).unwrap();
    // The machine in the ELF header: s390x.
    bytes[18..20].copy_from_slice(&22u16.to_le_bytes());
    std::fs::write(&path, bytes).unwrap();
    let lines = told(Some(folder.path()));
    let folder = std::fs::canonicalize(folder.path()).unwrap();
    let line = line(&lines, &[folder.to_str().unwrap()]);
    assert!(line.starts_with("limited") && line.contains("cannot be loaded: "), "{line}");
}

/// What asks a launcher for its version is not kept by one that never answers.
#[test]
fn a_launcher_that_hangs_is_passed_over_in_time() {
    let folder = TempDir::new().unwrap();
    let launcher = folder.path().join("mpirun.openmpi");
    std::fs::write(&launcher, "#!/bin/sh\nexec sleep 1000\n").unwrap();
    std::fs::set_permissions(&launcher, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = doctor();
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", folder.path().display()));
    let begun = Instant::now();
    let lines = told_by(command);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    let line = line(&lines, &["openmpi ", "ABI openmpi"]);
    assert!(line.contains("started by") && !line.contains(folder.path().to_str().unwrap()), "{line}");
}
