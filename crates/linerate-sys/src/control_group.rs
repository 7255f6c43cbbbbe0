//! The control groups that a process is in (cgroups(7)), both versions: where their files are, and who made them.

use std::fs;
use std::path::{Path, PathBuf};

/// A control group around the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Its name, as `/proc/self/cgroup` has it.
    pub name: String,
    /// Where its files are.
    pub directory: PathBuf,
}

impl Group {
    /// One of its files, without blanks around it; none where it has no such file, or it cannot be read.
    pub fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.directory.join(file)).ok().map(|text| text.trim().to_owned())
    }

    /// The number after a word that begins a line of one of its files.
    pub fn counter(&self, file: &str, word: &str) -> Option<u64> {
        let text = self.read(file)?;
        text.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' ')?.trim().parse().ok())
    }

    /// Who made it, as far as its name tells.
    pub fn owner(&self) -> Option<String> {
        let parts = self.name.split('/').rev();
        // What is deepest is nearest to the process, and what wraps containers is told by its name.
        parts.filter_map(owner_of).next()
    }
}

/// Signs of containers in the parts of a name; what is cut off by them is the container's own.
const CONTAINERS: &[(&str, &str)] = &[
    ("docker-", "the Docker container"),
    ("libpod-", "the Podman container"),
    ("cri-containerd-", "the Kubernetes container"),
    ("crio-", "the Kubernetes container"),
    ("kubepods-pod", "the Kubernetes pod"),
    ("pod", "the Kubernetes pod"),
    ("lxc.payload.", "the LXC container"),
    ("machine-", "the machine"),
    ("job_", "the Slurm job"),
];

/// Who made a group with this part in its name.
fn owner_of(part: &str) -> Option<String> {
    let stem = part.strip_suffix(".scope").or(part.strip_suffix(".slice")).unwrap_or(part);
    let short = |id: &str| id.chars().take(12).collect::<String>();
    let container = CONTAINERS.iter().find_map(|(sign, what)| Some((stem.strip_prefix(sign)?, what)));
    if let Some((id, what)) = container.filter(|(id, _)| !id.is_empty()) {
        return Some(format!("{what} {}", short(id)));
    }
    // Docker and others without systemd: a folder with the container's number.
    if part.len() == 64 && part.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Some(format!("the container {}", short(part)));
    }
    let is_unit = [".service", ".scope", ".slice"].iter().any(|end| part.ends_with(end));
    is_unit.then(|| format!("the systemd unit {part}"))
}

/// The groups of a controller, from the process's own to the topmost that is seen. They are read below `root`, which is `/`
/// but for tests. Where nothing is mounted there are none.
pub fn groups(root: &Path, controller: &str) -> Vec<Group> {
    let text = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let (own, mounts) = (text("proc/self/cgroup"), text("proc/self/mountinfo"));
    let memberships = own.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, name) = (parts.next()?, parts.next()?);
        let is_it = controllers.is_empty() || controllers.split(',').any(|one| one == controller);
        is_it.then_some((controllers, name))
    });
    let of_mounts = |(controllers, name): (&str, &str)| {
        let wanted = if controllers.is_empty() { None } else { Some(controller) };
        let mount = mounts.lines().find_map(|line| mount(line, wanted))?;
        Some(upward(root, &mount, name))
    };
    memberships.filter_map(of_mounts).flatten().collect()
}

/// Where a hierarchy is mounted, and which of its groups is at the top there.
struct Mount {
    top: String,
    at: String,
}

/// The mount of a line of mountinfo, where it is of version 2, or of the wanted controller.
fn mount(line: &str, wanted: Option<&str>) -> Option<Mount> {
    let (mount, kind) = line.split_once(" - ")?;
    let mut kind = kind.split(' ');
    let is_it = match (kind.next()?, wanted) {
        ("cgroup2", None) => true,
        ("cgroup", Some(wanted)) => kind.nth(1)?.split(',').any(|option| option == wanted),
        _ => false,
    };
    let mut fields = mount.split(' ').skip(3);
    let (top, at) = (fields.next()?, fields.next()?);
    is_it.then(|| Mount { top: plain(top), at: plain(at) })
}

/// Without the escapes of mountinfo.
fn plain(field: &str) -> String {
    field.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
}

/// From a group to what is at the top of its mount. Of one that is not below that, only the top is seen.
fn upward(root: &Path, mount: &Mount, name: &str) -> Vec<Group> {
    let at = root.join(mount.at.trim_start_matches('/'));
    let below = Path::new(name).strip_prefix(&mount.top).ok();
    let below = below.filter(|path| !path.components().any(|part| part.as_os_str() == ".."));
    let top = if below.is_some() { mount.top.as_str() } else { name };
    below
        .unwrap_or(Path::new(""))
        .ancestors()
        .map(|path| Group {
            name: Path::new(top).join(path).to_string_lossy().into_owned(),
            directory: at.join(path),
        })
        .map(|group| match group.name.trim_end_matches('/') {
            "" => Group { name: "/".into(), ..group },
            name => Group { name: name.into(), ..group },
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree of files, which ends with the test.
    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str, files: &[(&str, &str)]) -> Tree {
            let root = std::env::temp_dir().join(format!("linerate-groups-{name}-{}", std::process::id()));
            for (path, text) in files {
                let path = root.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Tree(root)
        }

        fn names(&self, controller: &str) -> Vec<String> {
            groups(&self.0, controller).into_iter().map(|group| group.name).collect()
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn groups_are_walked_to_the_top_in_both_versions() {
        let two = Tree::new(
            "two",
            &[
                ("proc/self/cgroup", "0::/system.slice/job.service\n"),
                ("proc/self/mountinfo", V2),
                ("sys/fs/cgroup/system.slice/cpu.stat", "usage_usec 3\nnr_throttled 7\n"),
            ],
        );
        assert_eq!(two.names("cpu"), ["/system.slice/job.service", "/system.slice", "/"]);
        let slice = &groups(&two.0, "cpu")[1];
        assert_eq!(
            (slice.counter("cpu.stat", "nr_throttled"), slice.counter("cpu.stat", "nr")),
            (Some(7), None)
        );
        let one = Tree::new(
            "one",
            &[
                ("proc/self/cgroup", "4:memory:/a\n2:cpu,cpuacct:/b/c\n0::/z\n"),
                (
                    "proc/self/mountinfo",
                    "1 2 0:3 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n",
                ),
            ],
        );
        assert_eq!(one.names("cpu"), ["/b/c", "/b", "/"]);
        assert!(one.names("memory").is_empty(), "it is not mounted");
    }

    #[test]
    fn a_container_sees_its_own_group_at_the_top() {
        let mount = "1 2 0:3 /docker/ab /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
        for (own, names) in [("/docker/ab/x", vec!["/docker/ab/x", "/docker/ab"]), ("/other", vec!["/other"])]
        {
            let own = format!("2:cpu:{own}\n");
            let tree =
                Tree::new("inside", &[("proc/self/cgroup", own.as_str()), ("proc/self/mountinfo", mount)]);
            assert_eq!(tree.names("cpu"), names);
            assert!(groups(&tree.0, "cpu").iter().all(|group| group.directory.starts_with(&tree.0)));
        }
    }

    #[test]
    fn without_groups_there_are_none() {
        for own in ["", "x", "1:cpu", "::", "3:cpus:/x", "0::/../up"] {
            let tree = Tree::new("none", &[("proc/self/cgroup", own), ("proc/self/mountinfo", "")]);
            assert!(tree.names("cpu").is_empty(), "{own}");
        }
        let up = Tree::new("up", &[("proc/self/cgroup", "0::/../up"), ("proc/self/mountinfo", V2)]);
        assert_eq!(groups(&up.0, "cpu")[0].directory, up.0.join("sys/fs/cgroup"));
        assert!(groups(Path::new("/none/such"), "cpu").is_empty());
    }

    #[test]
    fn the_name_of_a_group_tells_who_made_it() {
        let id = "0123456789abcdef".repeat(4);
        let docker = format!("/system.slice/docker-{id}.scope");
        let plain = format!("/docker/{id}");
        let cases = [
            ("/system.slice/job.service", Some("the systemd unit job.service")),
            ("/user.slice/user-7.slice/session-1.scope/x", Some("the systemd unit session-1.scope")),
            (docker.as_str(), Some("the Docker container 0123456789ab")),
            (plain.as_str(), Some("the container 0123456789ab")),
            ("/slurm/uid_7/job_42/step_0", Some("the Slurm job 42")),
            ("/kubepods/besteffort/pod12/x", Some("the Kubernetes pod 12")),
            ("/mine", None),
            ("/", None),
        ];
        for (name, owner) in cases {
            let group = Group { name: name.into(), directory: PathBuf::new() };
            assert_eq!(group.owner().as_deref(), owner, "{name}");
        }
    }
}
