//! The tracepoints that write into the rings: which point each stamps, which of its fields say what it is of, and what is asked of them.

use super::{Point, Watched};
use crate::{Error, Result};
use std::io;

/// A tracepoint, the point that it stamps, and the fields without which it tells nothing.
pub(super) struct At {
    /// Its group and its name.
    pub tracepoint: &'static str,
    /// The point.
    pub point: Point,
    /// The field that says which packet, socket or thread it is of.
    pub of: &'static str,
    /// The packet's socket, where it says that.
    pub socket: &'static str,
    /// What is asked of its fields, as the kernel's filters are written.
    pub filter: fn(&Asked) -> String,
}

impl At {
    /// Its name, which is of one group.
    pub fn name(&self) -> &'static str {
        self.tracepoint.split_once('/').map_or(self.tracepoint, |(_, name)| name)
    }
}

/// What is watched, and the threads that it is of.
pub(super) struct Asked {
    watched: Watched,
    threads: Vec<u32>,
}

impl Asked {
    /// All threads of a process are one word of a filter each, which has an end (`strndup_user` of a page,
    /// kernel/events/core.c).
    pub fn new(watched: Watched) -> Result<Asked> {
        const MOST_THREADS: usize = 100;
        if watched.process == 0 {
            return Ok(Asked { watched, threads: vec![watched.thread] });
        }
        let path = format!("/proc/{}/task", watched.process);
        let tasks = std::fs::read_dir(&path).map_err(|e| Error::new("read", path.clone(), e))?;
        let number = |task: std::fs::DirEntry| task.file_name().to_str()?.parse().ok();
        let threads: Vec<u32> = tasks.flatten().filter_map(number).collect();
        match threads.len() {
            0 => Err(Error::new("read", path, io::Error::from(io::ErrorKind::NotFound))),
            1..=MOST_THREADS => Ok(Asked { watched, threads }),
            many => {
                let why =
                    format!("the process has {many} threads, and level 2 watches {MOST_THREADS} at most");
                Err(Error::new("read", path, io::Error::other(why)))
            }
        }
    }

    /// That this field is one of the threads.
    fn is_thread(&self, field: &str) -> String {
        let each: Vec<String> = self.threads.iter().map(|thread| format!("{field} == {thread}")).collect();
        format!("({})", each.join(" || "))
    }
}

/// In no interrupt, hard or soft, which runs on top of any thread and sends what is others' (`TRACE_FLAG_HARDIRQ`,
/// `TRACE_FLAG_SOFTIRQ`, include/linux/trace_events.h).
const OF_ITSELF: &str = "!(common_flags & 24)";

fn goes_with_data(asked: &Asked) -> String {
    let [least, _] = asked.watched.least_bytes;
    format!("len >= {least}")
}

fn comes_with_data(asked: &Asked) -> String {
    let [_, least] = asked.watched.least_bytes;
    format!("len >= {least}")
}

fn any(_: &Asked) -> String {
    String::new()
}

fn of_thread(asked: &Asked) -> String {
    asked.is_thread("pid")
}

/// Every one, in the order of the way.
pub(super) const AT: &[At] = &[
    At {
        tracepoint: "tcp/tcp_sendmsg_locked",
        point: Point::Locked,
        of: "common_pid",
        socket: "",
        filter: |asked| asked.is_thread("common_pid"),
    },
    At {
        tracepoint: "net/net_dev_queue",
        point: Point::Queued,
        of: "skbaddr",
        socket: "",
        filter: |asked| {
            format!("{} && {OF_ITSELF} && {}", asked.is_thread("common_pid"), goes_with_data(asked))
        },
    },
    At {
        tracepoint: "net/net_dev_start_xmit",
        point: Point::Transmitted,
        of: "skbaddr",
        socket: "",
        filter: goes_with_data,
    },
    At {
        tracepoint: "net/netif_rx",
        point: Point::Arrived,
        of: "skbaddr",
        socket: "",
        filter: comes_with_data,
    },
    At {
        tracepoint: "net/napi_gro_receive_entry",
        point: Point::Arrived,
        of: "skbaddr",
        socket: "",
        filter: comes_with_data,
    },
    At {
        tracepoint: "net/netif_receive_skb",
        point: Point::Received,
        of: "skbaddr",
        socket: "",
        filter: comes_with_data,
    },
    At {
        tracepoint: "tcp/tcp_probe",
        point: Point::Probed,
        of: "skbaddr",
        socket: "skaddr",
        filter: |asked| {
            let Watched { local_port, remote_port, cookie, .. } = asked.watched;
            let own = if cookie > 0 { format!(" && sock_cookie == {cookie}") } else { String::new() };
            format!("sport == {local_port} && dport == {remote_port} && data_len > 0{own}")
        },
    },
    At { tracepoint: "sock/sk_data_ready", point: Point::Ready, of: "skaddr", socket: "", filter: any },
    At { tracepoint: "sched/sched_waking", point: Point::Waking, of: "pid", socket: "", filter: of_thread },
    At { tracepoint: "sched/sched_wakeup", point: Point::Woken, of: "pid", socket: "", filter: of_thread },
    At {
        tracepoint: "sched/sched_switch",
        point: Point::Running,
        of: "next_pid",
        socket: "",
        filter: |asked| asked.is_thread("next_pid"),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_watched_by_all_of_its_threads() {
        let watched = Watched {
            thread: 7,
            process: 0,
            network: None,
            local_port: 1,
            remote_port: 2,
            cookie: 9,
            datagrams: false,
            least_bytes: [60, 50],
        };
        let queued = AT.iter().find(|at| at.point == Point::Queued).unwrap();
        let filter = |asked: Asked| (queued.filter)(&asked);
        assert_eq!(
            filter(Asked::new(watched).unwrap()),
            "(common_pid == 7) && !(common_flags & 24) && len >= 60"
        );
        let two = Asked { watched, threads: vec![8, 9] };
        assert!(filter(two).starts_with("(common_pid == 8 || common_pid == 9) && "));
        let of_point = |point| {
            let at = AT.iter().find(|at| at.point == point).unwrap();
            (at.filter)(&Asked { watched, threads: Vec::new() })
        };
        assert_eq!([Point::Received, Point::Transmitted].map(of_point), ["len >= 50", "len >= 60"]);
        assert!(of_point(Point::Probed).ends_with(" && sock_cookie == 9"));
        let of_process = |process| Asked::new(Watched { process, ..watched });
        let own = std::process::id();
        assert!(of_process(own).unwrap().threads.contains(&own));
        assert!(of_process(u32::MAX).is_err(), "there is none");
    }
}
