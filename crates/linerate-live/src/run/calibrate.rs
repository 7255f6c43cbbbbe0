//! Calibrates the hosts of a run, one after the other: two of them may share their CPUs.

use super::protocol::CalibrateRequest;
use super::{PATIENCE, Runner};
use crate::Result;
use crate::record::HostCalibration;

impl Runner<'_> {
    /// What each host's clock, timers, wake-ups and generators can do.
    pub fn calibrate(&mut self) -> Result<Vec<HostCalibration>> {
        let settings = self.plan.settings.iter().filter(|setting| setting.rung.is_none()).cloned().collect();
        let request = CalibrateRequest { settings };
        let mut calibrated = Vec::new();
        for host in &mut self.hosts.all {
            let check = || self.watch.check();
            let answer: HostCalibration = host.client.call("calibrate", &request, 6 * PATIENCE, &check)?;
            calibrated.push(HostCalibration { host: host.facts.host, ..answer });
        }
        Ok(calibrated)
    }
}
