//! A sample of the exchanges: which are stamped does not depend on their times, and the others are in the tax alone.

use super::{SHORT, command, is_whole, number, traced};
use tempfile::TempDir;

/// One of three is stamped, and nothing that the others leave at the kernel's points is in it.
fn is_as_whole(level: u8) {
    let of_level = level.to_string();
    for beside in [&[][..], &["--datagrams"]] {
        let options = [&SHORT[..], &["--every", "3", "--level", &of_level], beside].concat();
        let trace = traced("lab", &options);
        is_whole(&trace, level.into());
        for of in trace["waits"].as_array().unwrap() {
            let lost = number(of, "lost_exchanges");
            assert!(of["every"] == 3 && number(of, "exchanges") + lost >= 900.0, "{of}");
            assert!((number(of, "between") - 1800.0).abs() <= lost, "{of}");
            // Of a block's last answer, and what the kernel does not let a program see that it interrupted.
            let strays = number(of, "stray_events");
            assert!(strays <= lost + 27.0, "level {level}: {strays}");
            assert!(of["stamped_tax"]["median"].is_f64(), "{of}");
        }
    }
}

#[test]
fn a_sample_is_as_whole_as_all_are() {
    is_as_whole(0);
}

#[test]
fn a_sample_of_programs_is_as_whole_as_all_are() {
    match linerate_sys::probe::tracing() {
        Ok(()) => is_as_whole(1),
        Err(why) => println!("SKIP: trace::samples::a_sample_of_programs_is_as_whole_as_all_are: {why}"),
    }
}

/// A stamped one is of the sample where it and the one before it came.
fn is_without_lost_ones(level: u8) {
    let options = ["--datagrams", "--every", "3", "--wait", "sleep", "--exchanges", "30", "--blocks", "6"];
    let trace = traced("lab:loss=2%", &[&options[..], &["--level", &level.to_string()]].concat());
    is_whole(&trace, level.into());
    let of = &trace["waits"][0];
    let [lost, stamped, between] = ["lost_exchanges", "exchanges", "between"].map(|key| number(of, key));
    // Of 1080 one in 25 is lost on one of its ways, half of them in the traced blocks, which have 180 stamped ones and 360 others.
    assert!(lost > 10.0 && lost < 100.0, "{of}");
    assert!(stamped > 130.0 && stamped < 180.0 && between > 310.0 && between < 360.0, "{of}");
    assert!(of["every"] == 3 && trace["notes"].to_string().contains("lost on the way"), "{of}");
    assert!(number(&of["clocked"], "p99_ns") < 50e6, "none of them is in a round trip: {of}");
}

#[test]
fn of_a_sample_of_datagrams_some_are_lost() {
    is_without_lost_ones(0);
}

#[test]
fn of_a_sample_of_programs_some_are_lost() {
    match linerate_sys::probe::tracing() {
        Ok(()) => is_without_lost_ones(1),
        Err(why) => println!("SKIP: trace::samples::of_a_sample_of_programs_some_are_lost: {why}"),
    }
}

#[test]
fn a_sample_is_told_where_one_was_asked_for() {
    let folder = TempDir::new().unwrap();
    let options = ["--wait", "sleep", "--level", "0", "--exchanges", "20", "--blocks", "1", "-q"];
    let text = |target: &str, more: &[&str]| {
        let output = command(folder.path(), target).args(options).args(more).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let all = text("lab", &[]);
    assert!(all.contains("of 20 exchanges whole") && !all.contains("sample"), "{all}");
    let sampled = text("lab", &["--every", "2"]);
    let told = [
        "one of 2 exchanges is stamped, 20 of 40",
        "of 20 stamped exchanges whole",
        "those that are stamped",
    ];
    for part in told {
        assert!(sampled.contains(part), "{part}: {sampled}");
    }
}

#[test]
fn what_no_sample_can_be_of_is_refused() {
    let folder = TempDir::new().unwrap();
    let long = ["--level", "0", "--bytes", "64KiB", "--exchanges", "4000", "--every", "64", "--blocks", "1"];
    let many = ["--exchanges", "4000", "--every", "64", "--blocks", "200"];
    let cases: [(&[&str], &str); 3] = [
        (&["--every", "2", "--level", "2"], "try --level 1, or leave out --every"),
        (&long, "try fewer --exchanges or a smaller --every"),
        (&many, "try fewer --exchanges or --blocks, or a smaller --every"),
    ];
    for (options, said) in cases {
        let output = command(folder.path(), "lab").args(options).arg("-q").output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && text.contains(said), "{text}");
    }
}
