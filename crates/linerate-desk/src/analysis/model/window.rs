//! What a window lets through: one window a round trip.

/// The rate of one window a round trip (RFC 9293 section 3.8; RFC 6349 section 3.3).
pub fn window_bps(window_bytes: f64, round_trip_ns: f64) -> f64 {
    8e9 * window_bytes / round_trip_ns
}

/// The product of rate and delay: the bytes in flight that fill a path.
pub fn product_bytes(rate_bps: f64, round_trip_ns: f64) -> f64 {
    rate_bps * round_trip_ns / 8e9
}

/// The share of a path that a window of whole segments fills, where it is as large as the path's
/// product of rate and delay: of half-filled segments none is sent (W. Feng et al., *Optimizing
/// 10-Gigabit Ethernet for Networks of Workstations, Clusters, and Grids*, SC 2003). Below one segment
/// it is one segment a round trip.
pub fn aligned_share(product_bytes: f64, segment_bytes: f64) -> f64 {
    let segments = (product_bytes / segment_bytes).floor();
    if segments < 1.0 { 1.0 } else { segments * segment_bytes / product_bytes }
}

/// How much payload fits into a receive buffer: the kernel accounts whole buffers, of which payload is
/// a share. The kernel before 6.6 takes `1 - 2^-scale` (net.ipv4.tcp_adv_win_scale, one by default);
/// later ones measure the share.
pub fn usable_window_bytes(buffer_bytes: f64, scale: i32) -> f64 {
    if scale > 0 { buffer_bytes * (1.0 - 0.5f64.powi(scale)) } else { buffer_bytes * 0.5f64.powi(-scale) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_segments_fill_a_path_as_published() {
        let segments = [1448.0, 8108.0, 8948.0, 15948.0];
        let table = [
            (42e3, [0.993, 0.927, 0.852, 0.911]),
            (20e3, [0.985, 0.973, 0.716, 0.638]),
            (100e3, [0.996, 0.973, 0.931, 0.893]),
        ];
        for (round_trip_ns, shares) in table {
            let product = product_bytes(10e9, round_trip_ns);
            for (segment, share) in segments.iter().zip(shares) {
                let found = aligned_share(product, *segment);
                assert!((found - share).abs() < 0.0006, "{round_trip_ns} {segment}: {found}");
            }
        }
    }

    #[test]
    fn one_segment_fills_a_smaller_path() {
        assert_eq!(aligned_share(1000.0, 1448.0), 1.0);
    }

    #[test]
    fn a_long_fat_path_needs_its_product() {
        assert_eq!(product_bytes(10e9, 100e6), 125e6);
        assert_eq!(window_bps(125e6, 100e6), 10e9);
        assert_eq!(usable_window_bytes(125e6, 1), 62.5e6);
        assert_eq!(usable_window_bytes(100.0, 2), 75.0);
        assert_eq!(usable_window_bytes(100.0, -2), 25.0);
    }
}
