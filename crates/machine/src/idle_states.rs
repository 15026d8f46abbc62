//! How deep idle CPUs may sleep: a request to the kernel, in force as long as it is held.
//!
//! A CPU without work is put to sleep, and waking it takes time: a microsecond from the lightest state, a hundred and more from deep
//! ones, and on a virtual machine every sleep is a trip to the hypervisor and back. Linux takes a bound for that time from whoever
//! may open `/dev/cpu_dma_latency` (Linux's "PM Quality of Service"): while the descriptor is open, no CPU enters a
//! state that takes longer to leave. The bounds of single CPUs (`pm_qos_resume_latency_us`) are files that would outlive a process
//! that is killed; this one ends with it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};

/// Names the driver of idle states.
const DRIVER: &str = "/sys/devices/system/cpu/cpuidle/current_driver";
/// The driver of virtual machines that can poll in place of halting; its only state behind polling says that it takes a microsecond.
const GUEST_DRIVER: &str = "haltpoll";

/// On a virtual machine only a CPU that does not halt wakes soon.
const GUEST_LATENCY_US: i32 = 0;
/// On others the lightest state does: it takes one or two.
const LATENCY_US: i32 = 2;

/// While it lives, CPUs of this machine enter only states that they leave at once.
#[derive(Debug)]
pub struct ShallowIdle(#[expect(dead_code, reason = "the kernel forgets the request when it is closed")] File);

impl ShallowIdle {
    /// Where the kernel takes requests.
    pub const DEVICE: &str = "/dev/cpu_dma_latency";

    /// Asks for it.
    ///
    /// # Errors
    /// What the system says: the device is there for root alone unless somebody changed that, and not in most containers.
    pub fn request() -> io::Result<Self> {
        let mut device = OpenOptions::new().write(true).open(Self::DEVICE)?;
        device.write_all(&latency_us(&fs::read_to_string(DRIVER).unwrap_or_default()).to_ne_bytes())?;
        Ok(Self(device))
    }

    /// Whether this process may ask; a descriptor that nothing is written to asks for nothing.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn may_request() -> io::Result<()> {
        OpenOptions::new().write(true).open(Self::DEVICE).map(drop)
    }
}

/// The time to ask for where idle states have this driver.
fn latency_us(driver: &str) -> i32 {
    if driver.trim() == GUEST_DRIVER { GUEST_LATENCY_US } else { LATENCY_US }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_is_asked_not_to_halt() {
        assert_eq!(latency_us("haltpoll\n"), 0);
        assert_eq!(latency_us("intel_idle\n"), 2);
        assert_eq!(latency_us(""), 2);
    }

    #[test]
    fn who_may_ask_is_granted() {
        match ShallowIdle::may_request() {
            Ok(()) => drop(ShallowIdle::request().expect("a request")),
            Err(refused) => assert_eq!(ShallowIdle::request().expect_err("the same").kind(), refused.kind()),
        }
    }
}
