// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
//
// Stamps the packets of one connection, and the thread that receives them, at the kernel's tracepoints. It only reads. A stamp is
// one word of an array that the program maps and reads after the block, a lane for each of some CPUs: two that share one count
// share its line of memory, which then goes to and fro in every exchange. What a lane has no room for is counted.
//
// Needs no header of any kernel: the few fields that are read are declared here and found by BTF when the object is loaded.
// Built by `build.sh` beside it; the object that is committed is what clang 14 makes of this.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))
#define FIELDS __attribute__((preserve_access_index))

// include/uapi/linux/bpf.h
enum { MAP_ARRAY = 2, MMAPABLE = 1 << 10 };

static void *(*lookup)(void *map, const void *key) = (void *)1;
static u64 (*now)(void) = (void *)5;
static u32 (*cpu)(void) = (void *)8;
static long (*read_kernel)(void *to, u32 bytes, const void *from) = (void *)113;

struct ns_common { u32 inum; } FIELDS;
struct net { struct ns_common ns; } FIELDS;
typedef struct { struct net *net; } possible_net_t;
struct net_device { possible_net_t nd_net; } FIELDS;
struct sock_common { u16 skc_num; u16 skc_dport; possible_net_t skc_net; } FIELDS;
struct sock { struct sock_common __sk_common; } FIELDS;
struct sk_buff { struct net_device *dev; u32 len; u16 network_header; u8 *head; u8 *data; } FIELDS;
struct task_struct { int pid; int tgid; } FIELDS;

// What is watched; written before a block. Of a program that is not ours every thread of a process is, for no thread has the number 0.
struct watched { u32 net; u32 thread; u16 local; u16 remote; u32 on; u32 process; };

// The points, as `tracer.rs` numbers them.
enum { LOCKED, QUEUED, TRANSMITTED, ARRIVED, RECEIVED, PROBED, READY, WAKING, WOKEN, RUNNING };

// As `tracer/lanes.rs` reads them. A stamp is a time with its point in the lowest bits.
enum { LANES = 4, STAMPS = 65536, POINT_BITS = 4 };
struct lane { u64 count; u64 pad[7]; u64 stamps[STAMPS]; };

struct {
	int (*type)[MAP_ARRAY];
	int (*max_entries)[1];
	u32 *key;
	struct watched *value;
} watched SEC(".maps");

struct {
	int (*type)[MAP_ARRAY];
	int (*map_flags)[MMAPABLE];
	int (*max_entries)[LANES];
	u32 *key;
	struct lane *value;
} lanes SEC(".maps");

INLINE struct watched *what(void)
{
	u32 zero = 0;
	struct watched *w = lookup(&watched, &zero);
	return w && w->on ? w : 0;
}

INLINE int stamp(u32 point)
{
	u64 ns = now();
	u32 own = cpu() % LANES;
	struct lane *lane = lookup(&lanes, &own);
	if (!lane)
		return 0;
	// An interrupt may take the place behind this one: the count is taken at once.
	u64 place = __sync_fetch_and_add(&lane->count, 1);
	if (place < STAMPS)
		lane->stamps[place] = ns << POINT_BITS | point;
	return 0;
}

INLINE u16 number(const u8 *at)
{
	return (u16)(at[0] << 8 | at[1]);
}

// Whether a packet carries data of the connection; `ip` is its IP header.
INLINE int carries(const struct watched *w, const u8 *ip, int out)
{
	// As much as of IPv6 and TCP is looked at: one read for both, but where IPv4 has options.
	u8 head[54];
	u8 *tcp = head + 40;
	u32 header, total;
	if (read_kernel(head, sizeof(head), ip))
		return 0;
	if (head[0] >> 4 == 4 && head[9] == 6) {
		header = (head[0] & 15) * 4;
		total = number(head + 2);
		if (header == 20)
			tcp = head + 20;
		else if (read_kernel(head + 40, 14, ip + header))
			return 0;
	} else if (head[0] >> 4 == 6 && head[6] == 6) {
		header = 40;
		total = 40 + number(head + 4);
	} else {
		return 0;
	}
	u16 from = number(tcp), to = number(tcp + 2);
	if (out ? from != w->local || to != w->remote : from != w->remote || to != w->local)
		return 0;
	return total > header + (tcp[12] >> 4) * 4;
}

INLINE int in_net(const struct watched *w, const struct sk_buff *skb)
{
	return skb->dev->nd_net.net->ns.inum == w->net;
}

INLINE int of_socket(const struct watched *w, const struct sock *sk)
{
	u16 port = sk->__sk_common.skc_dport;
	return sk->__sk_common.skc_num == w->local && (u16)(port << 8 | port >> 8) == w->remote &&
	       sk->__sk_common.skc_net.net->ns.inum == w->net;
}

INLINE int sent(u64 *args, u32 point)
{
	const struct sk_buff *skb = (void *)args[0];
	struct watched *w = what();
	if (w && in_net(w, skb) && carries(w, skb->head + skb->network_header, 1))
		return stamp(point);
	return 0;
}

INLINE int came(u64 *args, u32 point)
{
	const struct sk_buff *skb = (void *)args[0];
	struct watched *w = what();
	if (w && in_net(w, skb) && carries(w, skb->data, 0))
		return stamp(point);
	return 0;
}

INLINE int at_socket(u64 *args, u32 point)
{
	const struct sock *sk = (void *)args[0];
	struct watched *w = what();
	return w && of_socket(w, sk) ? stamp(point) : 0;
}

INLINE int of_thread(const struct task_struct *task, u32 point)
{
	struct watched *w = what();
	if (!w)
		return 0;
	return w->process ? (u32)task->tgid == w->process ? stamp(point) : 0 : (u32)task->pid == w->thread ? stamp(point) : 0;
}

SEC("tp_btf/tcp_sendmsg_locked") int locked(u64 *args) { return at_socket(args, LOCKED); }
SEC("tp_btf/net_dev_queue") int queued(u64 *args) { return sent(args, QUEUED); }
SEC("tp_btf/net_dev_start_xmit") int transmitted(u64 *args) { return sent(args, TRANSMITTED); }
SEC("tp_btf/netif_rx") int arrived(u64 *args) { return came(args, ARRIVED); }
SEC("tp_btf/napi_gro_receive_entry") int arrived_by_napi(u64 *args) { return came(args, ARRIVED); }
SEC("tp_btf/netif_receive_skb") int received(u64 *args) { return came(args, RECEIVED); }
SEC("tp_btf/tcp_probe") int probed(u64 *args)
{
	const struct sk_buff *skb = (void *)args[1];
	struct watched *w = what();
	if (!w || !of_socket(w, (void *)args[0]))
		return 0;
	u8 tcp[14];
	if (read_kernel(tcp, sizeof(tcp), skb->data) || skb->len <= (tcp[12] >> 4) * 4)
		return 0;
	return stamp(PROBED);
}
SEC("tp_btf/sk_data_ready") int ready(u64 *args) { return at_socket(args, READY); }
SEC("tp_btf/sched_waking") int waking(u64 *args) { return of_thread((void *)args[0], WAKING); }
SEC("tp_btf/sched_wakeup") int woken(u64 *args) { return of_thread((void *)args[0], WOKEN); }
SEC("tp_btf/sched_switch") int running(u64 *args) { return of_thread((void *)args[2], RUNNING); }

char granted[] SEC("license") = "Dual MIT/GPL";
