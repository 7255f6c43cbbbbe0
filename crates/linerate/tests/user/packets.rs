//! How many packets a message took: one that is asked for first takes more.

use serde_json::Value;

/// Packets that host a received for each message that came back to it, in an arm whose name has all of these words: the
/// fewest of all visits, for other packets only add.
pub fn packets(lines: &[Value], said: &[&str], size: u64) -> f64 {
    let arms = lines[0]["plan"]["arms"].as_array().unwrap();
    let is_asked = |arm: &Value| said.iter().all(|word| arm["name"].as_str().unwrap().contains(word));
    let arm = 1 + arms.iter().position(is_asked).unwrap() as u64;
    let trials = lines.iter().filter(|line| line["event"] == "trial" && line["case"]["arm"] == arm);
    let trials = trials.filter(|line| line["pass"] != 0 && line["block"]["message_bytes"] == size);
    let each = |trial: &Value| {
        let step =
            lines.iter().find(|line| line["event"] == "step" && line["step"] == trial["step"]).unwrap();
        let host = step["hosts"].as_array().unwrap().iter().find(|host| host["host"] == "a").unwrap();
        let came = host["interfaces"].as_array().unwrap().iter().map(|it| it["rx_packets"].as_f64().unwrap());
        let messages = ["messages", "slices"].map(|name| trial["block"][name].as_f64().unwrap());
        came.fold(0.0, f64::max) / messages.iter().product::<f64>()
    };
    trials.map(each).reduce(f64::min).unwrap()
}
