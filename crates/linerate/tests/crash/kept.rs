//! A lab that is kept, of which a process is killed: while it is put up, while it is worked in.

use super::kill::{any, await_descendants, kill, start_anew};
use super::marked::{LIMIT, await_none, marked};
use super::world::{World, text};
use linerate_sys::process::Process;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

const TARGETS: [&str; 3] = ["lab", "rate=1Gb/s", "hosts=16"];

/// Processes that put a lab up: a holder, a builder, a wire.
const PROCESSES: usize = 3;

/// Kills one process around a kept lab, and checks everything that must hold then; says who it was.
pub fn scene(chance: &mut ChaCha8Rng, number: usize) -> String {
    loop {
        let target = TARGETS[chance.random_range(..TARGETS.len())];
        let scene = if chance.random_ratio(1, 2) { put_up } else { worked_in };
        if let Some(role) = scene(chance, target, &format!("kill {number}, lab up {target}")) {
            return role;
        }
    }
}

/// The kill comes while the lab is put up.
fn put_up(chance: &mut ChaCha8Rng, target: &str, when: &str) -> Option<String> {
    let mut world = World::new();
    let detached = chance.random_ratio(1, 2);
    let mut command = world.command(&["lab", "up", target]);
    command.args(detached.then_some("--detach")).stdout(Stdio::null()).stderr(Stdio::null());
    let mut caller = command.spawn().unwrap();
    let many = chance.random_range(1..=PROCESSES);
    await_descendants(caller.id(), many, || world.is_up());
    world.look();
    let victim = any(chance, marked(&world.mark)).and_then(kill);
    let role = victim.as_ref().map(|victim| victim.role.clone());
    let when = format!("{when}, {role:?} after {many} processes");
    println!("{when}");
    // A lab that stands nevertheless is taken down; one that is still being put up, waited for.
    if !detached && victim.as_ref().is_none_or(|victim| victim.pid != caller.id()) {
        await_none(&when, || if world.is_up() || !goes_on(&mut caller) { vec![] } else { vec!["the lab"] });
    } else {
        assert!(Process::open(caller.id()).unwrap().unwrap().wait(LIMIT).unwrap(), "{when}");
    }
    await_none(&when, || marked(&world.mark).into_iter().filter(|one| one.role == "lab-builder").collect());
    world.look();
    let down = world.output(&["lab", "down", "--all"]);
    assert!(down.status.success(), "{when}: {}", text(&down));
    caller.wait().unwrap();
    // Where the caller died, a holder that nobody waited for ends by itself.
    world.assert_nobody_is_left(&when);
    start_anew(chance, &world);
    world.assert_nobody_is_left(&when);
    world.assert_nothing_is_left(&when);
    role
}

fn goes_on(child: &mut Child) -> bool {
    child.try_wait().unwrap().is_none()
}

/// The kill comes while a command runs on a host.
fn worked_in(chance: &mut ChaCha8Rng, target: &str, when: &str) -> Option<String> {
    let mut world = World::new();
    world.done(&["lab", "up", target, "--detach"]);
    // It does not mind being asked, and has a child.
    let script = "trap '' TERM; echo inside; sleep 603 & wait; sleep 604";
    let mut command = world.command(&["lab", "exec", "b", "--", "sh", "-c", script]);
    let mut inside = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(inside.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "inside\n");
    world.look();
    let Some(victim) = any(chance, marked(&world.mark)).and_then(kill) else {
        inside.kill().and_then(|()| inside.wait()).unwrap();
        return None;
    };
    let when = format!("{when}, {} while sh runs on a host", victim.role);
    println!("{when}");
    let is_holder = ["lab", "lab-wire"].contains(&victim.role.as_str());
    if is_holder {
        // A lab without its holder is gone, and so is one without its wire; what runs inside is left in peace.
        let are_left = |roles: &[&str]| {
            let all = marked(&world.mark).into_iter();
            all.filter(|one| roles.contains(&one.role.as_str())).collect::<Vec<_>>()
        };
        await_none(&when, || are_left(&["lab", "lab-wire"]));
        start_next(&world);
        let what = "what a user started was ended without being asked to";
        assert!(!are_left(&["sh"]).is_empty(), "{when}: {what}");
    } else {
        assert!(world.done(&["lab", "down"]).contains("is down"), "{when}");
    }
    let said = world.done(&["lab", "down", "--stale"]);
    assert!(!is_holder || said.contains("`sh -c trap"), "{when}: {said}");
    let _ = inside.wait();
    world.assert_nobody_is_left(&when);
    assert!(world.done(&["lab", "down", "--stale"]).contains("nothing is stale"), "{when}");
    world.assert_nothing_is_left(&when);
    Some(victim.role)
}

/// Any command that starts something.
fn start_next(world: &World) {
    world.done(&["lab", "up", "--detach", "--name", "next"]);
    world.done(&["lab", "down", "next"]);
}
