//! Which process has a port, as far as this user may see (proc(5)).

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// A process that has a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortHolder {
    /// Its number.
    pub process: u32,
    /// What it is called (`/proc/PID/comm`).
    pub name: String,
}

/// `TCP_LISTEN` of net/tcp_states.h, as the tables write it.
const LISTENS: &str = "0A";

/// What has a port of TCP, or of UDP, at this address or at all.
pub fn holder_of(place: SocketAddr, udp: bool) -> Option<PortHolder> {
    let protocol = if udp { "udp" } else { "tcp" };
    let tables = [format!("/proc/self/net/{protocol}"), format!("/proc/self/net/{protocol}6")];
    let tables = tables.iter().filter_map(|path| std::fs::read_to_string(path).ok());
    let sockets: Vec<String> = tables.flat_map(|table| holding(&table, place, udp)).collect();
    sockets.iter().find_map(|inode| process_with(inode))
}

/// The sockets of a table that hold the place, by their inodes.
fn holding(table: &str, place: SocketAddr, udp: bool) -> Vec<String> {
    let row = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let (ip, port) = words.get(1)?.split_once(':')?;
        let ip = address(ip)?;
        let is_it = u16::from_str_radix(port, 16).ok()? == place.port()
            && (ip == place.ip() || ip.is_unspecified() || place.ip().is_unspecified())
            && (udp || words.get(3) == Some(&LISTENS));
        is_it.then(|| words.get(9).map(ToString::to_string)).flatten()
    };
    table.lines().filter_map(row).collect()
}

/// An address as the tables write it: words of 32 bits, each in the machine's order of bytes.
fn address(text: &str) -> Option<IpAddr> {
    let words =
        text.as_bytes().chunks(8).map(|word| u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok());
    let bytes: Vec<u8> =
        words.collect::<Option<Vec<u32>>>()?.into_iter().flat_map(u32::to_ne_bytes).collect();
    match bytes.len() {
        4 => Some(<[u8; 4]>::try_from(bytes).ok()?.into()),
        16 => Some(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).to_canonical()),
        _ => None,
    }
}

fn process_with(inode: &str) -> Option<PortHolder> {
    let wanted = format!("socket:[{inode}]");
    let has = |process: u32| {
        let descriptors = std::fs::read_dir(format!("/proc/{process}/fd")).ok()?;
        let links = descriptors.flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok());
        links.into_iter().any(|link| link.as_os_str() == wanted.as_str()).then_some(process)
    };
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let process = numbers.find_map(has)?;
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    Some(PortHolder { process, name: name.trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, UdpSocket};

    #[test]
    fn who_has_a_port_is_told() {
        let own = Some(std::process::id());
        for place in ["127.0.0.1:0", "0.0.0.0:0", "[::1]:0", "[::]:0"] {
            let (tcp, udp) = (TcpListener::bind(place).unwrap(), UdpSocket::bind(place).unwrap());
            assert_eq!(
                holder_of(tcp.local_addr().unwrap(), false).map(|holder| holder.process),
                own,
                "{place}"
            );
            assert_eq!(
                holder_of(udp.local_addr().unwrap(), true).map(|holder| holder.process),
                own,
                "{place}"
            );
        }
        let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert_eq!(holder_of(gone, false), None);
    }

    #[test]
    fn a_damaged_table_holds_nothing() {
        let place = "127.0.0.1:80".parse().unwrap();
        for table in
            ["", "x", "0: 0100007F:0050", "0: 0100007F:0050 0 0A 0 0 0 0 0", "0: é:0050 0 0A 0 0 0 0 0 7"]
        {
            assert_eq!(holding(table, place, false), Vec::<String>::new(), "{table}");
        }
        assert_eq!(holding("0: 0100007F:0050 0 0A 0 0 0 0 0 7", place, false), ["7"]);
    }
}
