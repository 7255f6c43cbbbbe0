// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
//
// Stamps the packets of one connection, and the thread that receives them, at the kernel's tracepoints. It only reads. A stamp is
// one word of an array that the program maps and reads after the block, a lane for each of some CPUs and each end: two that share one
// count share its line of memory, which then goes to and fro in every exchange. What a lane has no room for is counted.
// Built by `build.sh` beside it; the object that is committed is what clang 14 makes of this.

#include "connection.bpf.h"

// The points, as `tracer.rs` numbers them.
enum { LOCKED, QUEUED, TRANSMITTED, ARRIVED, RECEIVED, PROBED, READY, WAKING, WOKEN, RUNNING };

// As `tracer/lanes.rs` reads them. A stamp is a time with its point in the lowest bits.
enum { LANES = 4, STAMPS = 65536, POINT_BITS = 4 };
// `sent` and `came` are the packets that the points before were passed by: who passes the next one there is the same, and its headers need
// not be read again, which is a third of what a stamp costs.
struct lane { u64 count; u64 sent; u64 came; u64 pad[5]; u64 stamps[STAMPS]; };

struct {
	int (*type)[MAP_ARRAY];
	int (*map_flags)[MMAPABLE];
	int (*max_entries)[ENDS * LANES];
	u32 *key;
	struct lane *value;
} lanes SEC(".maps");

INLINE struct lane *own_lane(u32 end)
{
	u32 own = end * LANES + cpu() % LANES;
	return lookup(&lanes, &own);
}

INLINE int stamp_in(struct lane *lane, u32 point)
{
	u64 ns = now();
	if (!lane)
		return 0;
	// An interrupt may take the place behind this one: the count is taken at once.
	u64 place = __sync_fetch_and_add(&lane->count, 1);
	if (place < STAMPS)
		lane->stamps[place] = ns << POINT_BITS | point;
	return 0;
}

INLINE int stamp(u32 end, u32 point)
{
	return stamp_in(own_lane(end), point);
}

// At the first of two points a packet is remembered, at the second it is known by that, where the same CPU takes it there.
INLINE int sent(u64 *args, u32 point)
{
	const struct sk_buff *skb = (void *)args[0];
	u32 end;
	struct watched *w = stamped_in(skb->dev->nd_net.net, OUT, &end);
	if (!w)
		return 0;
	struct lane *lane = own_lane(end);
	if (!lane)
		return 0;
	if (point == TRANSMITTED && lane->sent == (u64)skb) {
		lane->sent = 0;
		return stamp_in(lane, point);
	}
	// One that was dropped between the points leaves its address to another one.
	if (point == QUEUED)
		lane->sent = 0;
	if (!is_lowest(w, skb) || !carries(w, skb->head + skb->network_header, 1))
		return 0;
	if (point == QUEUED)
		lane->sent = (u64)skb;
	return stamp_in(lane, point);
}

INLINE int came(u64 *args, u32 point)
{
	const struct sk_buff *skb = (void *)args[0];
	u32 end;
	struct watched *w = stamped_in(skb->dev->nd_net.net, IN, &end);
	if (!w)
		return 0;
	struct lane *lane = own_lane(end);
	if (!lane)
		return 0;
	if (point == RECEIVED && lane->came == (u64)skb) {
		lane->came = 0;
		return stamp_in(lane, point);
	}
	// One that was merged into another leaves its address, too.
	if (point == ARRIVED)
		lane->came = 0;
	if (!carries(w, skb->data, 0))
		return 0;
	if (point == ARRIVED)
		lane->came = (u64)skb;
	return stamp_in(lane, point);
}

INLINE int at_socket(u64 *args, u32 way, u32 point)
{
	const struct sock *sk = (void *)args[0];
	u32 end;
	struct watched *w = stamped_in(sk->__sk_common.skc_net.net, way, &end);
	return w && has_ports(w, sk) ? stamp(end, point) : 0;
}

INLINE int is_thread_of(const struct watched *w, const struct task_struct *task)
{
	return w->process ? (u32)task->tgid == w->process : (u32)task->pid == w->thread;
}

INLINE int of_thread(const struct task_struct *task, u32 point)
{
	struct watched *first = stamped(0, IN), *second = stamped(1, IN);
	if (first && is_thread_of(first, task))
		return stamp(0, point);
	return second && is_thread_of(second, task) ? stamp(1, point) : 0;
}

SEC("tp_btf/tcp_sendmsg_locked") int locked(u64 *args) { return at_socket(args, OUT, LOCKED); }
SEC("tp_btf/net_dev_queue") int queued(u64 *args) { return sent(args, QUEUED); }
SEC("tp_btf/net_dev_start_xmit") int transmitted(u64 *args) { return sent(args, TRANSMITTED); }
SEC("tp_btf/netif_rx") int arrived(u64 *args) { return came(args, ARRIVED); }
SEC("tp_btf/napi_gro_receive_entry") int arrived_by_napi(u64 *args) { return came(args, ARRIVED); }
SEC("tp_btf/netif_receive_skb") int received(u64 *args) { return came(args, RECEIVED); }
SEC("tp_btf/tcp_probe") int probed(u64 *args)
{
	const struct sock *sk = (void *)args[0];
	const struct sk_buff *skb = (void *)args[1];
	u32 end;
	struct watched *w = stamped_in(sk->__sk_common.skc_net.net, IN, &end);
	if (!w || !has_ports(w, sk))
		return 0;
	u8 tcp[14];
	if (read_kernel(tcp, sizeof(tcp), skb->data) || skb->len <= (tcp[12] >> 4) * 4)
		return 0;
	return stamp(end, PROBED);
}
SEC("tp_btf/sk_data_ready") int ready(u64 *args) { return at_socket(args, IN, READY); }
SEC("tp_btf/sched_waking") int waking(u64 *args) { return of_thread((void *)args[0], WAKING); }
SEC("tp_btf/sched_wakeup") int woken(u64 *args) { return of_thread((void *)args[0], WOKEN); }
SEC("tp_btf/sched_switch") int running(u64 *args) { return of_thread((void *)args[2], RUNNING); }

char granted[] SEC("license") = "Dual MIT/GPL";
