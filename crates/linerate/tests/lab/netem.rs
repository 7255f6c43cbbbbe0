//! The kernel's own emulator where it has one, and what is said where it has none.

use super::*;
use linerate::plan::Target;

#[test]
fn netem_delays_or_is_said_to_be_missing() {
    let Ok(Target::Lab(topology)) = "lab:rate=1Gb/s,delay=20ms,jitter=1ms,wire=netem".parse() else {
        panic!("no lab")
    };
    let built = Lab::build(&topology, &program());
    if lab::probe(&program()).unwrap().netem {
        let lab = built.unwrap();
        let begun = Instant::now();
        transfer(&lab.hosts()[0], &lab.hosts()[1]);
        // One round trip connects, another one brings the last of it and says so.
        assert!(begun.elapsed() >= 2 * Duration::from_millis(38), "{:?}", begun.elapsed());
        return;
    }
    let error = built.unwrap_err();
    assert_eq!(error.exit_code(), 3, "{error}");
    assert!(error.to_string().starts_with("this kernel has no netem"), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("modprobe sch_netem")), "{:?}", error.hint());
}
