//! The volume that a file is on: its size, what is free, and how the system calls it.

use crate::SystemFiles;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A mounted file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Volume {
    /// Where it is mounted.
    pub mount_point: String,
    /// What is mounted there, such as `/dev/sda1`.
    pub device: String,
    /// `ext4`, `xfs`, ...
    pub file_system: String,
    /// Its size.
    pub bytes: u64,
    /// What this process can still write.
    pub free_bytes: u64,
    /// Whether nothing can be written.
    pub is_read_only: bool,
}

impl Volume {
    /// The volume of a file or folder; `None` where there is no such file, as on a simulated disk, or the system does not tell.
    pub fn of(path: &Path, files: &SystemFiles) -> Option<Volume> {
        let path = path.canonicalize().ok()?;
        let name = CString::new(path.as_os_str().as_bytes()).ok()?;
        // SAFETY: all zeros are a value of this struct of integers.
        let mut sizes: libc::statvfs = unsafe { std::mem::zeroed() };
        // SAFETY: `name` ends with a zero byte, and `sizes` is a struct of this type that lives through the call.
        if unsafe { libc::statvfs(name.as_ptr(), &raw mut sizes) } != 0 {
            return None;
        }
        let mounts = files.read("proc/self/mountinfo").unwrap_or_default();
        let mount = Mount::of(&path, &mounts)?;
        Some(Volume {
            mount_point: mount.point,
            device: mount.device,
            file_system: mount.file_system,
            bytes: sizes.f_blocks * sizes.f_frsize,
            free_bytes: sizes.f_bavail * sizes.f_frsize,
            is_read_only: sizes.f_flag & libc::ST_RDONLY != 0,
        })
    }
}

/// A line of `/proc/self/mountinfo`.
struct Mount {
    point: String,
    device: String,
    file_system: String,
}

impl Mount {
    /// The mount that a path is below: the one with the longest name, and of equal ones the last, which hides those before.
    fn of(path: &Path, mounts: &str) -> Option<Mount> {
        let mounts = mounts.lines().filter_map(Mount::parse);
        mounts.filter(|mount| path.starts_with(&mount.point)).max_by_key(|mount| mount.point.len())
    }

    /// `36 35 98:0 /root /mnt options - ext4 /dev/sda1 options`, with any number of fields before the dash.
    fn parse(line: &str) -> Option<Mount> {
        let (before, behind) = line.split_once(" - ")?;
        let mut behind = behind.split(' ');
        let (file_system, device) = (behind.next()?, behind.next()?);
        let point = unescaped(before.split(' ').nth(4)?);
        Some(Mount { point, device: unescaped(device), file_system: file_system.to_string() })
    }
}

/// A field as the kernel writes it: a blank is `\040`, likewise other characters that part fields.
fn unescaped(field: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .into_iter()
        .fold(field.to_string(), |text, (written, meant)| text.replace(written, meant))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_on_the_mount_with_the_longest_name() {
        let mounts = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
            30 22 8:2 / /data rw,relatime shared:1 master:2 - xfs /dev/sdb rw\n\
            31 22 8:3 / /data\\040base rw - btrfs /dev/sdc rw\n\
            nonsense\n";
        let of = |path: &str| Mount::of(Path::new(path), mounts).map(|mount| (mount.device, mount.file_system));
        let found = |device: &str, file_system: &str| Some((device.to_string(), file_system.to_string()));
        assert_eq!(of("/etc/x"), found("/dev/sda1", "ext4"));
        assert_eq!(of("/data/x"), found("/dev/sdb", "xfs"));
        assert_eq!(of("/database"), found("/dev/sda1", "ext4"), "a name that only begins so is another");
        assert_eq!(of("/data base/x"), found("/dev/sdc", "btrfs"));
    }

    #[test]
    fn this_machine_tells_of_its_root() {
        let volume = Volume::of(Path::new("/"), &SystemFiles::below("/")).expect("there is a root");
        assert!(volume.bytes >= volume.free_bytes && volume.bytes > 0, "{volume:?}");
        assert_eq!(Volume::of(Path::new("/no such file"), &SystemFiles::below("/")), None);
    }
}
