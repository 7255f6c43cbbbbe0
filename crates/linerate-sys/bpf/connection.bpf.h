// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
//
// What is watched, and which packets and sockets are of it.
//
// Needs no header of any kernel: the few fields that are read are declared here and found by BTF when the object is loaded.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))
#define FIELDS __attribute__((preserve_access_index))

// include/uapi/linux/bpf.h
enum { MAP_ARRAY = 2, MAP_PERCPU_ARRAY = 6, MMAPABLE = 1 << 10 };

static void *(*lookup)(void *map, const void *key) = (void *)1;
static u64 (*now)(void) = (void *)5;
static u32 (*cpu)(void) = (void *)8;
static u64 (*running_thread)(void) = (void *)14;
static long (*read_kernel)(void *to, u32 bytes, const void *from) = (void *)113;

struct ns_common { u32 inum; } FIELDS;
struct net { struct ns_common ns; } FIELDS;
typedef struct { struct net *net; } possible_net_t;
struct list_head { struct list_head *next; } FIELDS;
struct net_device { possible_net_t nd_net; struct { struct list_head lower; } FIELDS adj_list; } FIELDS;
struct netdev_adjacent { struct net_device *dev; struct list_head list; } FIELDS;
struct sock_common { u16 skc_num; u16 skc_dport; possible_net_t skc_net; } FIELDS;
typedef struct { int owned; } FIELDS socket_lock_t;
struct sock { struct sock_common __sk_common; socket_lock_t sk_lock; } FIELDS;
struct sk_buff { struct net_device *dev; u32 len; u16 network_header; u8 *head; u8 *data; } FIELDS;
struct task_struct { int pid; int tgid; } FIELDS;

// What is watched; written before a block. Of a program that is not ours every thread of a process is, for no thread has the number 0.
// `cpu` is the thread's, where that is asked for; `protocol` is IP's number of TCP or of UDP, and 0 while nothing is watched. Of a sample of
// messages `ways` says which way is stamped now: who watches maps this and changes it between two messages.
struct watched { u32 net; u32 thread; u16 local; u16 remote; u32 protocol; u32 process; u32 cpu; u32 ways; };

// As `tracer/switch.rs` has them.
enum { OUT = 1, IN = 2 };

// The ends of a connection that are watched here: both where they are two hosts of one kernel, at which every tracepoint would enter the
// programs of each of them otherwise.
enum { ENDS = 2 };

// include/uapi/linux/in.h
enum { TCP = 6, UDP_HEADER = 8 };

struct {
	int (*type)[MAP_ARRAY];
	int (*map_flags)[MMAPABLE];
	int (*max_entries)[ENDS];
	u32 *key;
	struct watched *value;
} watched SEC(".maps");

INLINE struct watched *what(void)
{
	u32 zero = 0;
	struct watched *w = lookup(&watched, &zero);
	return w && w->protocol ? w : 0;
}

// An end, while messages of this way are stamped there.
INLINE struct watched *stamped(u32 end, u32 way)
{
	struct watched *w = lookup(&watched, &end);
	return w && w->ways & way ? w : 0;
}

// The end in this network namespace, of which each has its own.
INLINE struct watched *stamped_in(const struct net *net, u32 way, u32 *end)
{
	struct watched *first = stamped(0, way), *second = stamped(1, way);
	if (!first && !second)
		return 0;
	u32 inum = net->ns.inum;
	*end = !(first && first->net == inum);
	return *end == 0 ? first : second && second->net == inum ? second : 0;
}

INLINE u16 number(const u8 *at)
{
	return (u16)(at[0] << 8 | at[1]);
}

// How many bytes of the connection's data a packet carries, 0 of another's; `ip` is its IP header. Its ports stand at the same place in
// TCP and in UDP.
INLINE u32 carries(const struct watched *w, const u8 *ip, int out)
{
	// As much as of IPv6 and TCP is looked at: one read for both, but where IPv4 has options.
	u8 head[54];
	u8 *tcp = head + 40;
	u32 header, total;
	if (read_kernel(head, sizeof(head), ip))
		return 0;
	if (head[0] >> 4 == 4 && head[9] == w->protocol) {
		header = (head[0] & 15) * 4;
		total = number(head + 2);
		if (header == 20)
			tcp = head + 20;
		else if (read_kernel(head + 40, 14, ip + header))
			return 0;
	} else if (head[0] >> 4 == 6 && head[6] == w->protocol) {
		header = 40;
		total = 40 + number(head + 4);
	} else {
		return 0;
	}
	u16 from = number(tcp), to = number(tcp + 2);
	if (out ? from != w->local || to != w->remote : from != w->remote || to != w->local)
		return 0;
	u32 ahead = header + (w->protocol == TCP ? (tcp[12] >> 4) * 4 : UDP_HEADER);
	return total > ahead ? total - ahead : 0;
}

INLINE int in_net(const struct watched *w, const struct sk_buff *skb)
{
	return skb->dev->nd_net.net->ns.inum == w->net;
}

// A packet passes a VLAN's or a bond's device and then the one below it: it counts where there is none below in the network
// namespace that is watched.
INLINE int is_lowest(const struct watched *w, const struct sk_buff *skb)
{
	const struct list_head *lower = &skb->dev->adj_list.lower, *next = lower->next;
	if (next == lower)
		return 1;
	const struct netdev_adjacent *first =
		(void *)((u64)next - __builtin_preserve_field_info(((struct netdev_adjacent *)0)->list, 0));
	struct net_device *below;
	struct net *net;
	u32 inum;
	if (read_kernel(&below, sizeof(below), &first->dev) || read_kernel(&net, sizeof(net), &below->nd_net.net) ||
	    read_kernel(&inum, sizeof(inum), &net->ns.inum))
		return 1;
	return inum != w->net;
}

INLINE int has_ports(const struct watched *w, const struct sock *sk)
{
	u16 port = sk->__sk_common.skc_dport;
	return sk->__sk_common.skc_num == w->local && (u16)(port << 8 | port >> 8) == w->remote;
}

INLINE int of_socket(const struct watched *w, const struct sock *sk)
{
	return has_ports(w, sk) && sk->__sk_common.skc_net.net->ns.inum == w->net;
}
