//! Processes of a race: started on their CPU, listened to, waited for within a limit, and ended.

use linerate_sys::child::ChildProcess;
use linerate_sys::cpu_time::process_ns;
use linerate_sys::process::Signal;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long an end may take to say its last words once it is told to end, and to close what it wrote to.
const FAREWELL: Duration = Duration::from_secs(1);

/// What is started, and where.
#[derive(Debug, Clone)]
pub struct Launch {
    program: String,
    arguments: Vec<String>,
    cpu: u32,
}

impl Launch {
    /// A program on a CPU.
    pub fn new<A: Into<String>>(program: &str, cpu: u32, arguments: impl IntoIterator<Item = A>) -> Launch {
        Launch { program: program.into(), arguments: arguments.into_iter().map(Into::into).collect(), cpu }
    }

    /// With further words.
    pub fn and<A: Into<String>>(mut self, words: impl IntoIterator<Item = A>) -> Launch {
        self.arguments.extend(words.into_iter().map(Into::into));
        self
    }

    /// Starts it. It ends with this process, whatever becomes of that.
    pub fn start(&self) -> Result<Running, String> {
        let cpu = self.cpu.to_string();
        let mut command = Command::new("setpriv");
        // Some leave their logs where they stand.
        command.current_dir(std::env::temp_dir());
        command.args(["--pdeathsig", "KILL", "taskset", "-c", &cpu, &self.program]).args(&self.arguments);
        command.stdin(Stdio::null()).process_group(0);
        // The handle gives away standard output together with standard input only.
        let (reader, writer) = std::io::pipe().map_err(|error| error.to_string())?;
        let (errors, error_writer) = std::io::pipe().map_err(|error| error.to_string())?;
        command.stdout(writer).stderr(error_writer);
        let own =
            ChildProcess::start(self.program.clone(), Duration::ZERO, command).map_err(|e| e.to_string())?;
        Ok(Running {
            own,
            name: self.program.clone(),
            said: Heard::of(reader),
            complained: Heard::of(errors),
        })
    }
}

/// What a process wrote so far.
#[derive(Clone)]
struct Heard(Arc<(Mutex<Text>, Condvar)>);

#[derive(Default)]
struct Text {
    bytes: Vec<u8>,
    is_all: bool,
}

impl Heard {
    fn of(mut from: impl Read + Send + 'static) -> Heard {
        let heard = Heard(Arc::default());
        let listener = heard.clone();
        std::thread::spawn(move || {
            let mut room = [0; 4096];
            loop {
                let came = from.read(&mut room).unwrap_or(0);
                let mut text = listener.text();
                text.bytes.extend(&room[..came]);
                text.is_all = came == 0;
                listener.0.1.notify_all();
                if text.is_all {
                    return;
                }
            }
        });
        heard
    }

    fn text(&self) -> MutexGuard<'_, Text> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until enough was written, or nothing more can come, or the time is over; gives what there is.
    fn until(&self, limit: Duration, is_enough: impl Fn(&str) -> bool) -> String {
        let so_far = |text: &Text| String::from_utf8_lossy(&text.bytes).into_owned();
        let wants_more = |text: &mut Text| !text.is_all && !is_enough(&so_far(text));
        let waited = self.0.1.wait_timeout_while(self.text(), limit, wants_more);
        so_far(&waited.unwrap_or_else(PoisonError::into_inner).0)
    }
}

/// A process that goes on until it is dropped.
pub struct Running {
    own: ChildProcess,
    name: String,
    said: Heard,
    complained: Heard,
}

/// What an ended process left.
#[derive(Debug, Clone, Default)]
pub struct Ended {
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub errors: String,
    /// CPU time of all its threads; not of processes that it started.
    pub cpu_ns: Option<u64>,
    /// Whether it ended of its own accord, and well.
    pub is_well: bool,
}

impl Running {
    /// Its first line, if it comes in time.
    pub fn first_line(&self, limit: Duration) -> Result<String, String> {
        let text = self.said.until(limit, |text| text.contains('\n'));
        let line = text.split_once('\n').map(|(line, _)| line.to_owned());
        line.ok_or_else(|| format!("{} said nothing: {}", self.name, self.last_error()))
    }

    /// Its number: that of the program, which those before it became.
    pub fn pid(&self) -> u32 {
        self.own.pid()
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.own.has_ended()
    }

    /// The last line of what it complained of.
    pub fn last_error(&self) -> String {
        last_line(&self.complained.until(Duration::from_millis(100), |_| false)).to_owned()
    }

    /// Waits until it has ended.
    pub fn wait(self, limit: Duration) -> Result<Ended, String> {
        if !self.own.wait(limit) {
            return Err(format!("{} did not end within {} s", self.name, limit.as_secs()));
        }
        Ok(self.ended(true))
    }

    /// Bids it end, and sees to it.
    pub fn stop(self) -> Ended {
        self.own.signal_group(Signal::Terminate);
        self.own.wait(FAREWELL);
        self.own.signal_group(Signal::Kill);
        self.own.wait(FAREWELL);
        self.ended(false)
    }

    /// Its clock can be read until it is waited for, which asking for its status does.
    fn ended(self, of_its_own: bool) -> Ended {
        let cpu_ns = process_ns(self.own.pid()).ok();
        let output = self.said.until(FAREWELL, |_| false);
        let errors = self.complained.until(FAREWELL, |_| false);
        let is_well = of_its_own && self.own.status().is_some_and(|status| status.success());
        Ended { output, errors, cpu_ns, is_well }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.own.signal_group(Signal::Kill);
    }
}

/// The last line that says something.
pub fn last_line(text: &str) -> &str {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it gave no reason")
}

/// When a server may be called.
#[derive(Debug, Clone, Copy)]
pub enum Ready {
    /// It listens at this port.
    Tcp(u16),
    /// It has this port of UDP.
    Udp(u16),
}

impl Ready {
    /// The kernel's own tables say so without a connection.
    fn is_so(self) -> bool {
        let (port, state, tables) = match self {
            Ready::Tcp(port) => (port, " 0A ", ["/proc/net/tcp", "/proc/net/tcp6"]),
            Ready::Udp(port) => (port, " 07 ", ["/proc/net/udp", "/proc/net/udp6"]),
        };
        let wanted = format!(":{port:04X} ");
        tables.iter().any(|table| {
            let table = std::fs::read_to_string(table).unwrap_or_default();
            table.lines().any(|line| line.contains(&wanted) && line.contains(state))
        })
    }
}

/// Waits until a server may be called.
pub fn await_ready(server: &Running, ready: Ready, limit: Duration) -> Result<(), String> {
    let begun = Instant::now();
    while !ready.is_so() {
        if server.has_ended() {
            return Err(format!("{} ended at once: {}", server.name, server.last_error()));
        }
        if begun.elapsed() > limit {
            return Err(format!("{} did not listen within {} s", server.name, limit.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// How a server's part ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// It ends by itself after its client.
    Ends,
    /// It would serve on for ever.
    Stopped,
}

/// Runs a server and its client; gives what both left, the server first.
pub fn serve(
    server: &Launch,
    (ready, after): (Ready, After),
    client: &Launch,
    limit: Duration,
) -> Result<[Ended; 2], String> {
    let server = server.start()?;
    await_ready(&server, ready, Duration::from_secs(5))?;
    let client = client.start()?.wait(limit)?;
    if !client.is_well {
        let why = if client.errors.trim().is_empty() { &client.output } else { &client.errors };
        return Err(last_line(why).to_owned());
    }
    let server = match after {
        After::Ends => server.wait(Duration::from_secs(5))?,
        After::Stopped => server.stop(),
    };
    Ok([server, client])
}

/// What a command says, on either stream, when it is only asked something; none where it cannot be started.
pub fn answer(program: &str, arguments: &[&str]) -> Option<String> {
    let cpu = linerate_sys::thread::allowed_cpus().ok()?.first().copied()?;
    let ended = Launch::new(program, cpu, arguments.iter().copied()).start().ok()?.wait(FAREWELL * 3).ok()?;
    Some(ended.output + &ended.errors)
}

#[cfg(test)]
#[allow(dead_code, unused_imports, reason = "a bench compiles its tests and runs none: tests/races.rs does")]
mod tests {
    use super::*;

    fn shell(script: &str) -> Launch {
        let cpu = linerate_sys::thread::allowed_cpus().unwrap()[0];
        Launch::new("sh", cpu, ["-c", script])
    }

    #[test]
    fn what_a_process_leaves_is_told() {
        let ended = shell("echo out; echo err >&2").start().unwrap().wait(FAREWELL * 10).unwrap();
        assert_eq!((ended.output.as_str(), ended.errors.as_str(), ended.is_well), ("out\n", "err\n", true));
        assert!(ended.cpu_ns.unwrap() > 0);
        assert!(!shell("exit 3").start().unwrap().wait(FAREWELL * 10).unwrap().is_well);
    }

    #[test]
    fn who_does_not_end_is_ended_with_its_children() {
        let running = shell("sleep 600 & echo $!; wait").start().unwrap();
        let child: u32 = running.first_line(FAREWELL * 10).unwrap().parse().unwrap();
        let why = running.wait(Duration::from_millis(10)).unwrap_err();
        assert!(why.contains("did not end"), "{why}");
        let gone = linerate_sys::process::Process::open(child).unwrap();
        assert!(gone.is_none_or(|process| process.wait(FAREWELL * 10).unwrap()));
    }

    #[test]
    fn a_server_that_ends_at_once_says_why() {
        let server = shell("echo the port is taken >&2; exit 1");
        let played = serve(&server, (Ready::Tcp(1), After::Ends), &shell("true"), FAREWELL);
        assert!(played.unwrap_err().contains("the port is taken"));
    }

    #[test]
    fn a_program_that_does_not_exist_is_an_error() {
        let ended = Launch::new("no-such-program", 0, ["x"]).start().unwrap().wait(FAREWELL * 10).unwrap();
        assert!(!ended.is_well && !ended.errors.is_empty());
    }
}
