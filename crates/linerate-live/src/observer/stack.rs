//! Facts about the network stack, of the calling thread's network namespace where the kernel keeps them by
//! namespace: `/proc/sys/net` and `/proc/thread-self/net` follow the reader.

use super::fact::{Fact, Facts, Source, file, read, text};
use Source::Call;
use linerate_sys::firewall::{iptables_entries, nftables_rules};
use linerate_sys::link::{self, Route};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::io::ErrorKind;

/// The settings that can move a number, by sysctl name. Some are not shown in namespaces: null there.
const SETTINGS: &[&str] = &[
    "net.core.bpf_jit_enable",
    "net.core.busy_poll",
    "net.core.busy_read",
    "net.core.default_qdisc",
    "net.core.dev_weight",
    "net.core.gro_normal_batch",
    "net.core.high_order_alloc_disable",
    "net.core.max_skb_frags",
    "net.core.netdev_budget",
    "net.core.netdev_budget_usecs",
    "net.core.netdev_max_backlog",
    "net.core.netdev_tstamp_prequeue",
    "net.core.optmem_max",
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.rps_sock_flow_entries",
    "net.core.skb_defer_max",
    "net.core.somaxconn",
    "net.core.txrehash",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.ipv4.ip_early_demux",
    "net.ipv4.ip_forward",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_no_pmtu_disc",
    "net.ipv4.tcp_adv_win_scale",
    "net.ipv4.tcp_allowed_congestion_control",
    "net.ipv4.tcp_app_win",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_available_congestion_control",
    "net.ipv4.tcp_base_mss",
    "net.ipv4.tcp_comp_sack_delay_ns",
    "net.ipv4.tcp_comp_sack_nr",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_dsack",
    "net.ipv4.tcp_early_demux",
    "net.ipv4.tcp_early_retrans",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_fastopen",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_max_reordering",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_min_tso_segs",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_pacing_ca_ratio",
    "net.ipv4.tcp_pacing_ss_ratio",
    "net.ipv4.tcp_recovery",
    "net.ipv4.tcp_reordering",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_rto_min_us",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_shrink_window",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_tso_rtt_log",
    "net.ipv4.tcp_tso_win_divisor",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
    "net.ipv4.udp_mem",
    "net.ipv4.udp_rmem_min",
    "net.ipv4.udp_wmem_min",
    "net.ipv6.conf.all.disable_ipv6",
    "net.mptcp.enabled",
    "net.bridge.bridge-nf-call-iptables",
    "net.netfilter.nf_conntrack_buckets",
    "net.netfilter.nf_conntrack_count",
    "net.netfilter.nf_conntrack_max",
];

const FACTS: &[Fact] = &[
    ("protocols", Call(protocols)),
    ("modules", Call(modules)),
    ("netfilter.nftables_rules", Call(nftables)),
    ("netfilter.iptables_entries", Call(iptables)),
    ("routes", Call(routes)),
];

/// Modules of protocols, filters, queues and adapters, by the kernel's names: some are those of transports.
const MODULES: &str = "\
    tcp_bbr tcp_cubic tcp_dctcp tcp_htcp sch_fq sch_fq_codel sch_netem sch_cake sch_mq tls sctp \
    mptcp rds smc tipc wireguard xfrm_user vsock nf_tables ip_tables ip6_tables nf_conntrack nf_nat \
    br_netfilter bridge bonding openvswitch vxlan veth ifb tun macvlan ipvlan ib_core rdma_cm \
    ib_ipoib siw rdma_rxe knem xpmem";

/// Routes of each kind that are kept.
const ROUTES: usize = 4;

/// Every fact about the stack.
pub(super) fn facts() -> Facts {
    let mut facts = read(FACTS);
    facts.extend(SETTINGS.iter().map(|name| ((*name).to_owned(), setting(name))));
    facts
}

/// The value of a sysctl in this thread's namespace.
pub(super) fn setting(name: &str) -> Value {
    file(&format!("/proc/sys/{}", name.replace('.', "/")))
}

/// The protocols that sockets can be made of.
fn protocols() -> Value {
    text("/proc/thread-self/net/protocols").map_or(Value::Null, |text| first_words(&text).into())
}

/// The first word of every line but the heading, once each.
fn first_words(text: &str) -> Vec<&str> {
    let words = text.lines().skip(1).filter_map(|line| line.split_ascii_whitespace().next());
    words.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Those of the list that are there. Parts built into the kernel show only if they have parameters.
fn modules() -> Value {
    let loaded = text("/proc/modules").unwrap_or_default();
    let there =
        |name: &&str| is_loaded(&loaded, name) || std::path::Path::new("/sys/module").join(name).exists();
    MODULES.split_whitespace().filter(there).collect()
}

fn is_loaded(modules: &str, name: &str) -> bool {
    modules.lines().any(|line| line.split(' ').next() == Some(name))
}

/// Rules of nftables; asked only if that loads nothing, because a filter costs time even without rules.
fn nftables() -> Value {
    let built_in = || {
        let release = text("/proc/sys/kernel/osrelease").unwrap_or_default();
        text(&format!("/lib/modules/{release}/modules.builtin"))
            .is_some_and(|list| list.lines().any(|path| path.ends_with("/nf_tables.ko")))
    };
    match text("/proc/modules") {
        Some(loaded) if !is_loaded(&loaded, "nf_tables") && !built_in() => Value::Null,
        _ => nftables_rules().ok().into(),
    }
}

/// Entries of each table of the older iptables; an empty map where there are no tables.
fn iptables() -> Value {
    let mut tables = Map::new();
    for (path, family) in [("ip_tables_names", "ipv4"), ("ip6_tables_names", "ipv6")] {
        let names = match std::fs::read_to_string(format!("/proc/thread-self/net/{path}")) {
            Ok(names) => names,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(_) => return Value::Null,
        };
        for table in names.lines() {
            let entries = iptables_entries(table, family == "ipv6").ok();
            tables.insert(format!("{family}.{table}"), entries.into());
        }
    }
    Value::Object(tables)
}

/// How many routes there are, the default ones, and those that fix something for their connections.
fn routes() -> Value {
    let Ok(routes) = link::routes() else { return Value::Null };
    let names: Vec<(u32, String)> =
        link::links().unwrap_or_default().into_iter().map(|link| (link.index, link.name)).collect();
    summary(&routes, &names)
}

fn summary(routes: &[Route], names: &[(u32, String)]) -> Value {
    let line = |route: &Route| {
        let name = names.iter().find(|(index, _)| Some(*index) == route.interface);
        let mut line = route.destination.clone();
        for (word, value) in [("via", route.gateway.as_ref()), ("dev", name.map(|(_, name)| name))] {
            line.extend(value.map(|value| format!(" {word} {value}")));
        }
        line.extend(route.metrics.iter().map(|metric| format!(" {metric}")));
        line
    };
    let pick = |wanted: fn(&&Route) -> bool| {
        routes.iter().filter(wanted).take(ROUTES).map(line).collect::<Vec<String>>()
    };
    json!({
        "count": routes.len(),
        "default": pick(|route| route.destination.ends_with("/0")),
        "with_metrics": pick(|route| !route.metrics.is_empty() && !route.destination.ends_with("/0")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_setting_is_null() {
        let facts = facts();
        assert_eq!(facts.len(), FACTS.len() + SETTINGS.len(), "two facts have one name");
        assert!(facts["net.ipv4.tcp_rmem"].as_array().is_some_and(|three| three.len() == 3));
        assert!(setting("net.none.such").is_null());
    }

    #[test]
    fn protocols_are_named_once() {
        let text = "protocol  size sockets\nTCP 2000 9\nUDP 1000 3\nTCP 2000 0\n\n";
        assert_eq!(first_words(text), ["TCP", "UDP"]);
        assert!(first_words("").is_empty() && first_words("protocol").is_empty());
    }

    #[test]
    fn a_module_is_known_by_its_whole_name() {
        let modules = "nf_tables_set 1 0\nnf_conntrack 9 1 nf_nat, Live 0x0\n";
        assert!(is_loaded(modules, "nf_conntrack") && !is_loaded(modules, "nf_tables"));
    }

    #[test]
    fn routes_are_told_by_a_few_lines() {
        let route = |destination: &str, metrics: &[&str]| Route {
            destination: destination.into(),
            gateway: Some("10.0.0.1".into()),
            interface: Some(4),
            metrics: metrics.iter().map(|metric| (*metric).to_owned()).collect(),
        };
        let mut routes = vec![route("0.0.0.0/0", &[]); 9];
        routes.push(route("10.1.0.0/16", &["InitCwnd(10)"]));
        let summary = summary(&routes, &[(4, "eth0".into())]);
        assert_eq!(summary["count"], 10);
        assert_eq!(summary["default"].as_array().map(Vec::len), Some(ROUTES));
        assert_eq!(summary["default"][0], "0.0.0.0/0 via 10.0.0.1 dev eth0");
        assert_eq!(summary["with_metrics"][0], "10.1.0.0/16 via 10.0.0.1 dev eth0 InitCwnd(10)");
    }
}
