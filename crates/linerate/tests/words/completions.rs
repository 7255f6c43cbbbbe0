//! Completions of the shells.

use super::support::{Desk, text};

#[test]
fn every_shells_script_hides_hidden_commands() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = text(&desk.linerate(&["completions", shell]));
        for word in ["calibrate", "network.tcp", "profile", "quick"] {
            // PowerShell and elvish complete names, not values.
            let is_value = ["network.tcp", "quick"].contains(&word);
            assert!(
                script.contains(word) || is_value && ["elvish", "powershell"].contains(&shell),
                "{shell}: {word}"
            );
        }
        assert!(!script.contains("lab-builder"), "{shell} offers a command that is no user's");
    }
}

/// What bash offers after these words.
fn offered(desk: &Desk, words: &[&str]) -> Vec<String> {
    let last = words.len() - 1;
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let script = format!(
        "source linerate.bash; COMP_WORDS=({}); COMP_CWORD={last}; _linerate linerate '{}' '{}'; \
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        quoted.join(" "),
        words[last],
        words[last - 1],
    );
    let output = desk.command("bash").args(["--norc", "-c", &script]).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    text(&output).lines().map(String::from).collect()
}

#[test]
fn bash_completes_values_too() {
    let desk = Desk::new();
    desk.write("linerate.bash", &text(&desk.linerate(&["completions", "bash"])));
    for (words, wanted) in [
        (&["linerate", "calib"][..], "calibrate"),
        (&["linerate", "run", "--profile", ""], "quick"),
        (&["linerate", "run", "--only", "netw"], "network.tcp"),
        (&["linerate", "run", "--skip", "in-h"], "in-host"),
        (&["linerate", "run", "--set", "tcp.no"], "tcp.no-delay=on"),
        (&["linerate", "run", "--set", "socket.s"], "socket.send-buffer="),
        (&["linerate", "run", "simu"], "simulated"),
        (&["linerate", "explain", "sender"], "sender-cpu"),
        (&["linerate", "list", ""], "knobs"),
    ] {
        let offered = offered(&desk, words);
        assert!(offered.iter().any(|word| word == wanted), "{words:?}: {offered:?}");
    }
}
