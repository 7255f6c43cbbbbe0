//! Words for what a machine does not allow, and what to try.

use crate::Error;
use std::fs;
use std::io::ErrorKind::{self, InvalidInput, NotFound, PermissionDenied, StorageFull, Unsupported};

/// A reason why a lab cannot be built: the first that fits an error is the one told.
struct Refusal {
    /// Told only to those who need a user namespace.
    ordinary: bool,
    /// The calls that fail so; empty for all.
    calls: &'static [&'static str],
    /// What they fail on, by its end; empty for anything.
    object: &'static str,
    /// How they fail.
    kinds: &'static [ErrorKind],
    /// A setting under `/proc/sys` that is the cause when it has this value.
    setting: Option<(&'static str, &'static str)>,
    /// What is not there.
    what: &'static str,
    /// What to try.
    hint: &'static str,
}

const REFUSALS: &[Refusal] = &[
    // Ubuntu from 23.10 on. The namespace itself may still be granted, and everything inside refused.
    Refusal {
        ordinary: true,
        calls: &[],
        object: "",
        kinds: &[PermissionDenied],
        setting: Some(("kernel/apparmor_restrict_unprivileged_userns", "1")),
        what: "AppArmor keeps user namespaces from ordinary users here",
        hint: "run it as root, or allow them: \
               sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    },
    // Debian before 11, and kernels with its patch.
    Refusal {
        ordinary: true,
        calls: &["unshare"],
        object: "",
        kinds: &[PermissionDenied],
        setting: Some(("kernel/unprivileged_userns_clone", "0")),
        what: "ordinary users may not make user namespaces here",
        hint: "run it as root, or allow them: sudo sysctl -w kernel.unprivileged_userns_clone=1",
    },
    Refusal {
        ordinary: true,
        calls: &["unshare"],
        object: "",
        kinds: &[StorageFull, PermissionDenied],
        setting: Some(("user/max_user_namespaces", "0")),
        what: "user namespaces are switched off here",
        hint: "run it as root, or allow them: sudo sysctl -w user.max_user_namespaces=10000",
    },
    Refusal {
        ordinary: false,
        calls: &["unshare"],
        object: "",
        kinds: &[StorageFull],
        setting: None,
        what: "no more namespaces may be made here",
        hint: "raise user.max_user_namespaces, user.max_net_namespaces, user.max_uts_namespaces and user.max_mnt_namespaces",
    },
    Refusal {
        ordinary: false,
        calls: &["unshare"],
        object: "",
        kinds: &[InvalidInput, Unsupported],
        setting: None,
        what: "this kernel has no user, network or host name namespaces",
        hint: "a lab needs CONFIG_NET_NS and CONFIG_UTS_NS, and CONFIG_USER_NS for ordinary users; \
               measure between two machines instead: linerate run ssh://HOST",
    },
    Refusal {
        ordinary: false,
        calls: &["open"],
        object: "/dev/fuse",
        kinds: &[NotFound],
        setting: None,
        what: "this machine has no /dev/fuse",
        hint: "load it: sudo modprobe fuse; in a container, start that with --device /dev/fuse",
    },
    Refusal {
        ordinary: false,
        calls: &["open"],
        object: "/dev/fuse",
        kinds: &[PermissionDenied],
        setting: None,
        what: "this user may not serve files",
        hint: "run it as root, or allow it: sudo chmod 666 /dev/fuse; in a container, start that with \
               --device /dev/fuse",
    },
    Refusal {
        ordinary: false,
        calls: &["setns"],
        object: " chroot",
        kinds: &[InvalidInput],
        setting: None,
        what: "a host with files of its own cannot be made from within a chroot",
        hint: "call it outside, or leave out --fault slow-disk",
    },
    Refusal {
        ordinary: false,
        calls: &["mount"],
        object: "",
        kinds: &[PermissionDenied],
        setting: None,
        what: "nothing may be mounted here",
        hint: "run it as root; in a container, start that with --cap-add SYS_ADMIN \
               --security-opt apparmor=unconfined; or leave out --fault slow-disk",
    },
    // Docker's default seccomp profile refuses unshare(2) to those without CAP_SYS_ADMIN.
    Refusal {
        ordinary: true,
        calls: &[],
        object: "",
        kinds: &[PermissionDenied],
        setting: None,
        what: "this user may not make virtual hosts here",
        hint: "run it as root; in a container, start that with --cap-add SYS_ADMIN --cap-add NET_ADMIN",
    },
    Refusal {
        ordinary: false,
        calls: &["RTM_NEWLINK"],
        object: "",
        kinds: &[Unsupported],
        setting: None,
        what: "this kernel has no veth or no bridge",
        hint: "load them: sudo modprobe veth && sudo modprobe bridge",
    },
    Refusal {
        ordinary: false,
        calls: &["RTM_NEWQDISC"],
        object: " netem",
        kinds: &[NotFound],
        setting: None,
        what: "this kernel has no netem",
        hint: "load it: sudo modprobe sch_netem; or leave out wire=netem for the program's own wire",
    },
    Refusal {
        ordinary: false,
        calls: &["RTM_NEWQDISC"],
        object: " tbf",
        kinds: &[NotFound],
        setting: None,
        what: "this kernel has no tbf, which limits the lab's rate",
        hint: "load it: sudo modprobe sch_tbf; or leave out wire=tbf for the program's own wire",
    },
];

/// An error of building, in words where it is a known refusal.
pub(super) fn explain(error: linerate_sys::Error, ordinary: bool) -> Error {
    let setting = |path: &str| fs::read_to_string(format!("/proc/sys/{path}")).ok();
    match find(&error, ordinary, setting) {
        Some(refusal) => {
            let what = format!("{} ({error}: {})", refusal.what, error.source);
            Error::unavailable(what, refusal.hint)
        }
        None => error.into(),
    }
}

fn find(
    error: &linerate_sys::Error,
    ordinary: bool,
    setting: impl Fn(&str) -> Option<String>,
) -> Option<&'static Refusal> {
    let holds = |(path, value): (&str, &str)| setting(path).is_some_and(|found| found.trim() == value);
    REFUSALS.iter().find(|refusal| {
        (ordinary || !refusal.ordinary)
            && (refusal.calls.is_empty() || refusal.calls.contains(&error.call))
            && error.object.ends_with(refusal.object)
            && refusal.kinds.contains(&error.source.kind())
            && refusal.setting.is_none_or(holds)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    const EPERM: i32 = 1;
    const ENOENT: i32 = 2;
    const EACCES: i32 = 13;
    const EINVAL: i32 = 22;
    const ENOSPC: i32 = 28;
    const EOPNOTSUPP: i32 = 95;

    fn hint_for(call: &'static str, errno: i32, ordinary: bool, settings: &[(&str, &str)]) -> &'static str {
        let (call, object) = call.split_once(' ').unwrap_or((call, "it"));
        let error = linerate_sys::Error::new(call, object, io::Error::from_raw_os_error(errno));
        let setting = |path: &str| {
            settings.iter().find(|(known, _)| *known == path).map(|(_, value)| format!("{value}\n"))
        };
        find(&error, ordinary, setting).map_or("", |refusal| refusal.hint)
    }

    #[test]
    fn every_known_refusal_has_its_hint() {
        let apparmor = [("kernel/apparmor_restrict_unprivileged_userns", "1")];
        let debian = [("kernel/unprivileged_userns_clone", "0")];
        let none = [("user/max_user_namespaces", "0")];
        let cases = [
            ("unshare", EPERM, true, &apparmor[..], "apparmor_restrict"),
            ("write", EPERM, true, &apparmor, "apparmor_restrict"),
            ("RTM_NEWLINK", EPERM, true, &apparmor, "apparmor_restrict"),
            ("unshare", EPERM, true, &debian, "unprivileged_userns_clone=1"),
            ("unshare", ENOSPC, true, &none, "max_user_namespaces=10000"),
            ("unshare", ENOSPC, false, &[], "max_net_namespaces"),
            ("unshare", EINVAL, true, &[], "CONFIG_NET_NS"),
            ("unshare", EPERM, true, &[], "--cap-add SYS_ADMIN"),
            ("write", EACCES, true, &[], "--cap-add SYS_ADMIN"),
            ("open /dev/fuse", ENOENT, false, &[], "modprobe fuse"),
            ("open /dev/fuse", EACCES, false, &[], "chmod 666 /dev/fuse"),
            ("setns a chroot", EINVAL, false, &[], "outside"),
            ("mount /srv", EPERM, false, &[], "apparmor=unconfined"),
            ("RTM_NEWLINK", EOPNOTSUPP, false, &[], "modprobe veth"),
            ("RTM_NEWQDISC wire0 tbf", ENOENT, true, &[], "modprobe sch_tbf"),
            ("RTM_NEWQDISC wire0 netem", ENOENT, false, &[], "modprobe sch_netem"),
        ];
        for (call, errno, ordinary, settings, part) in cases {
            let hint = hint_for(call, errno, ordinary, settings);
            assert!(hint.contains(part), "{call} {errno}: {hint}");
        }
    }

    #[test]
    fn what_is_not_known_stays_a_failed_call() {
        let apparmor = [("kernel/apparmor_restrict_unprivileged_userns", "1")];
        for (call, errno) in [("RTM_NEWLINK", EINVAL), ("RTM_NEWLINK", ENOENT), ("unshare", EPERM)] {
            assert_eq!(hint_for(call, errno, false, &apparmor), "", "{call} {errno}");
        }
    }
}
