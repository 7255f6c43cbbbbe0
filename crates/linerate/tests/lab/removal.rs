//! A lab goes with the process that has it, however that ends.

use super::*;
use std::collections::BTreeSet;

#[test]
fn a_killed_controller_leaves_nothing() {
    for hosts in [2, 3, 16] {
        let mut controller = Command::new(env::current_exe().unwrap());
        controller.args(arguments("removal::part_holds_a_lab")).env(ORDER, hosts.to_string());
        let mut controller = controller.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let held = hear(&mut controller);
        let namespaces: BTreeSet<String> = serde_json::from_value(held["namespaces"].clone()).unwrap();
        // Each host has two, and so has a bridge, whose name is not kept.
        assert!(namespaces.len() >= 2 * hosts, "{namespaces:?}");
        let inside = PathBuf::from(format!("/proc/{}", held["inside"]));
        assert!(namespaces.iter().all(|namespace| is_referred_to(namespace)), "{namespaces:?}");

        controller.kill().unwrap();
        controller.wait().unwrap();
        await_that("the process inside is gone", || !inside.exists());
        namespaces.iter().for_each(|namespace| await_that(namespace, || !is_referred_to(namespace)));
    }
}

#[test]
fn a_lab_that_is_dropped_leaves_nothing() {
    for hosts in [2, 16] {
        let lab = lab(Topology { hosts, ..Topology::default() });
        let mut inside = lab.hosts()[0].command("sleep").arg("60").spawn().unwrap();
        let namespaces = own_namespaces_beside(&inside);
        assert!(namespaces.iter().all(|namespace| is_referred_to(namespace)), "{namespaces:?}");
        drop(lab);
        assert!(is_referred_to(&namespaces[0]), "a process inside keeps its host");
        inside.kill().unwrap();
        inside.wait().unwrap();
        namespaces.iter().for_each(|namespace| await_that(namespace, || !is_referred_to(namespace)));
    }
}

/// The network and host name namespaces of a process, as the kernel calls them.
fn own_namespaces_beside(child: &Child) -> [String; 2] {
    ["net", "uts"].map(|kind| {
        let link = fs::read_link(format!("/proc/{}/ns/{kind}", child.id())).unwrap();
        link.to_str().unwrap().to_owned()
    })
}

#[test]
#[ignore = "a part, started by the tests"]
fn part_holds_a_lab() {
    let hosts = env::var(ORDER).unwrap().parse().unwrap();
    let lab = lab(Topology { hosts, ..Topology::default() });
    let mut inside = lab.hosts()[0].command("sleep").arg("60").spawn().unwrap();
    // What the kernel calls the namespaces: `net:[4026532000]`.
    let descriptors = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let namespaces: BTreeSet<_> = descriptors
        .filter_map(|link| fs::read_link(link.path()).ok()?.to_str().map(String::from))
        .filter(|name| ["net:", "uts:", "user:"].iter().any(|kind| name.starts_with(kind)))
        .collect();
    say(&json!({ "inside": inside.id(), "namespaces": namespaces }));
    // Until it is killed, or the test that started it ends.
    io::copy(&mut io::stdin(), &mut io::sink()).unwrap();
    inside.kill().unwrap();
    inside.wait().unwrap();
}
