//! What a host's setting is as the text of a file below `/proc/sys`, which a line of `sysctl.d` has too.

use crate::unit::Bytes;
use crate::vocabulary::SysctlValue;

/// The text for a value, where the file had this before; none where that is not what this program knows.
pub fn sysctl_value(how: SysctlValue, before: &str, asked: &str) -> Option<String> {
    let bytes = || asked.parse::<Bytes>().ok().map(|size| size.0);
    match how {
        SysctlValue::Same => Some(asked.into()),
        SysctlValue::Bytes => bytes().map(|size| size.to_string()),
        SysctlValue::ThirdOf(_) => {
            let most = bytes()?;
            let [least, usual, _] = before.split(' ').collect::<Vec<_>>()[..] else { return None };
            let [least, usual] = [least.parse::<u64>().ok()?, usual.parse::<u64>().ok()?];
            Some(format!("{} {} {most}", least.min(most), usual.min(most)))
        }
        SysctlValue::Switch => Some(u8::from(asked == "on").to_string()),
        SysctlValue::Inverted => Some(u8::from(asked != "on").to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_number_leads_the_others() {
        let third = |before: &str, asked: &str| sysctl_value(SysctlValue::ThirdOf(""), before, asked);
        assert_eq!(third("4096 131072 6291456", "16MiB").as_deref(), Some("4096 131072 16777216"));
        assert_eq!(third("4096 131072 6291456", "64KiB").as_deref(), Some("4096 65536 65536"));
        assert_eq!(third("4096 131072", "64KiB"), None);
        let of_switch = |how: SysctlValue| sysctl_value(how, "", "on");
        assert_eq!(of_switch(SysctlValue::Switch).as_deref(), Some("1"));
        assert_eq!(of_switch(SysctlValue::Inverted).as_deref(), Some("0"));
    }
}
