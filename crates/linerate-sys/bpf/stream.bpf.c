// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
//
// Counts what a stream of one connection makes the kernel do, at its tracepoints. It only reads. A count is one word of an array
// that the program reads after the block, a lane for each of some CPUs.
// Built by `build.sh` beside it; the object that is committed is what clang 14 makes of this.

#include "connection.bpf.h"

// As `tracer/counting.rs` reads them: numbers, sizes by their power of two, drops by the kernel's reason.
enum {
	OUT_PACKETS, OUT_BYTES, IN_PACKETS, IN_BYTES, TAKEN, TAKEN_HELD, RETRANSMITTED, SOFTIRQ_IN_THREAD, SOFTIRQ_BESIDE,
	SOFTIRQ_ELSEWHERE, NUMBERS = 16, SIZES = 24, REASONS = 256,
	OUT_SIZES = NUMBERS, IN_SIZES = OUT_SIZES + SIZES, DROPS = IN_SIZES + SIZES, WORDS = DROPS + REASONS
};
enum { LANES = 4 };
struct lane { u64 words[WORDS]; };

// include/linux/interrupt.h
enum { NET_TX_SOFTIRQ = 2, NET_RX_SOFTIRQ = 3 };

// A softirq under way on a CPU, since when.
struct softirq { u64 since; };

struct {
	int (*type)[MAP_ARRAY];
	int (*max_entries)[LANES];
	u32 *key;
	struct lane *value;
} lanes SEC(".maps");

struct {
	int (*type)[MAP_PERCPU_ARRAY];
	int (*max_entries)[1];
	u32 *key;
	struct softirq *value;
} softirqs SEC(".maps");

INLINE int add(u32 word, u64 by)
{
	u32 own = cpu() % LANES;
	struct lane *lane = lookup(&lanes, &own);
	if (lane && word < WORDS)
		__sync_fetch_and_add(&lane->words[word], by);
	return 0;
}

INLINE u32 power_of_two(u32 value)
{
	u32 power = 0;
#pragma unroll
	for (u32 step = 16; step > 0; step >>= 1)
		if (value >> step) {
			value >>= step;
			power += step;
		}
	return power < SIZES ? power : SIZES - 1;
}

INLINE struct softirq *under_way(void)
{
	u32 zero = 0;
	return lookup(&softirqs, &zero);
}

SEC("tp_btf/net_dev_queue") int queued(u64 *args)
{
	const struct sk_buff *skb = (void *)args[0];
	struct watched *w = what();
	if (!w || !in_net(w, skb) || !is_lowest(w, skb))
		return 0;
	u32 bytes = carries(w, skb->head + skb->network_header, 1);
	if (!bytes)
		return 0;
	add(OUT_PACKETS, 1);
	add(OUT_BYTES, bytes);
	return add(OUT_SIZES + power_of_two(bytes), 1);
}

// What finds the socket held by the program is left for it to take when it lets go (sk_backlog of include/net/sock.h): it is owned
// still then. A softirq, a thread of NAPI and one that polls its device take packets of a socket that nobody owns.
SEC("tp_btf/tcp_probe") int taken(u64 *args)
{
	const struct sk_buff *skb = (void *)args[1];
	struct watched *w = what();
	if (!w || !of_socket(w, (void *)args[0]))
		return 0;
	const struct sock *sk = (void *)args[0];
	if (sk->sk_lock.owned)
		add(TAKEN_HELD, 1);
	add(TAKEN, 1);
	u8 tcp[14];
	if (read_kernel(tcp, sizeof(tcp), skb->data))
		return 0;
	u32 header = (tcp[12] >> 4) * 4, all = skb->len;
	if (all <= header)
		return 0;
	add(IN_PACKETS, 1);
	add(IN_BYTES, all - header);
	return add(IN_SIZES + power_of_two(all - header), 1);
}

SEC("tp_btf/tcp_retransmit_skb") int retransmitted(u64 *args)
{
	struct watched *w = what();
	return w && of_socket(w, (void *)args[0]) ? add(RETRANSMITTED, 1) : 0;
}

// Behind TCP a packet has no device any more: what has none only counts where it came in.
SEC("tp_btf/kfree_skb") int dropped(u64 *args)
{
	const struct sk_buff *skb = (void *)args[0];
	u32 reason = (u32)args[2];
	struct watched *w = what();
	if (!w)
		return 0;
	const u8 *ip = skb->head + skb->network_header;
	int is_ours = in_net(w, skb), has_none = !skb->dev;
	if ((is_ours && carries(w, ip, 1)) || ((is_ours || has_none) && carries(w, ip, 0)))
		return add(DROPS + (reason < REASONS ? reason : REASONS - 1), 1);
	return 0;
}

SEC("tp_btf/softirq_entry") int entered(u64 *args)
{
	u32 vector = (u32)args[0];
	struct softirq *softirq = under_way();
	if (softirq && what() && (vector == NET_TX_SOFTIRQ || vector == NET_RX_SOFTIRQ))
		softirq->since = now();
	return 0;
}

SEC("tp_btf/softirq_exit") int left(u64 *args)
{
	struct softirq *softirq = under_way();
	struct watched *w = what();
	if (!softirq || !softirq->since)
		return 0;
	u64 took = now() - softirq->since;
	softirq->since = 0;
	if (!w)
		return 0;
	u32 word = (u32)running_thread() == w->thread ? SOFTIRQ_IN_THREAD : cpu() == w->cpu ? SOFTIRQ_BESIDE : SOFTIRQ_ELSEWHERE;
	return add(word, took);
}

char granted[] SEC("license") = "Dual MIT/GPL";
