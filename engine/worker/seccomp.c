/* seccomp.c - a filter that refuses a list of system calls and allows all others. A list of allowed
 * calls would break with the next library. Listed here are calls that turn a bug of a job, or of a
 * library that it uses, into power over other processes, the machine or the kernel. */
#include "seccomp.h"

#include <endian.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#define FOREIGN_BIT 0x40000000u /* of the numbers of x32, which the kernel runs as the same processor */
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#elif defined(__i386__)
#define OUR_ARCH AUDIT_ARCH_I386
#elif defined(__arm__) && __BYTE_ORDER == __LITTLE_ENDIAN
#define OUR_ARCH AUDIT_ARCH_ARM
#elif defined(__riscv) && __riscv_xlen == 64
#define OUR_ARCH AUDIT_ARCH_RISCV64
#elif defined(__powerpc64__) && __BYTE_ORDER == __LITTLE_ENDIAN
#define OUR_ARCH AUDIT_ARCH_PPC64LE
#elif defined(__s390x__)
#define OUR_ARCH AUDIT_ARCH_S390X
#endif

/* With headers that are older than a call, the preprocessor leaves out its line. */
static const int refused[] = {
    /* other processes: their memory, their descriptors, their steps */
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_perf_event_open,
#ifdef SYS_pidfd_getfd
    SYS_pidfd_getfd,
#endif
#ifdef SYS_process_madvise
    SYS_process_madvise,
#endif
    /* mounts, and namespaces, in which any user is root (clone is refused by its flags, below) */
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns,
#ifdef SYS_open_tree
    SYS_open_tree, SYS_move_mount, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick,
#endif
#ifdef SYS_mount_setattr
    SYS_mount_setattr,
#endif
    SYS_open_by_handle_at, SYS_fanotify_init, SYS_quotactl, SYS_swapon, SYS_swapoff, SYS_acct,
    /* the kernel itself: other code in it, another kernel, its log */
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_bpf, SYS_reboot, SYS_syslog,
#ifdef SYS_kexec_load
    SYS_kexec_load,
#endif
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
#ifdef SYS_iopl
    SYS_iopl,
#endif
#ifdef SYS_ioperm
    SYS_ioperm,
#endif
#ifdef SYS_modify_ldt
    SYS_modify_ldt,
#endif
#ifdef SYS_vm86
    SYS_vm86,
#endif
    SYS_userfaultfd,                    /* exploits use it to stop the kernel in the middle of a call */
    SYS_personality,                    /* turns off random addresses */
    SYS_vhangup,
    /* keys that the kernel holds for other processes */
    SYS_add_key, SYS_request_key, SYS_keyctl,
    /* clocks and names of the machine */
    SYS_settimeofday, SYS_adjtimex, SYS_clock_settime, SYS_clock_adjtime, SYS_sethostname, SYS_setdomainname,
};

/* Newer calls for the same whose arguments a filter does not see. For callers, ENOSYS means an
 * older kernel, and they use the call that the filter does see. */
static const int unknown[] = {
#ifdef SYS_clone3
    SYS_clone3,                         /* its flags are in memory */
#endif
#ifdef SYS_io_uring_setup
    SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
#endif
};

/* A call that is refused by one of its arguments. */
static const struct { int call, arg; unsigned value; bool is_mask;
} refused_with[] = {
#ifdef __s390x__
    { SYS_clone, 1,
#else
    { SYS_clone, 0,
#endif
      CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
          CLONE_NEWNET,
      true },
    { SYS_ioctl, 1, TIOCSTI, false }, /* types into the terminal that the engine was started on */
    { SYS_ioctl, 1, 0x541c, false },  /* TIOCLINUX, on a console the same */
};

enum {
    REFUSED = sizeof refused / sizeof *refused, UNKNOWN = sizeof unknown / sizeof *unknown,
    REFUSED_WITH = sizeof refused_with / sizeof *refused_with,
    PROGRAM_MAX = 8 + 2 * REFUSED + 2 * UNKNOWN + 5 * REFUSED_WITH,
};

struct program { struct sock_filter at[PROGRAM_MAX]; unsigned short n; };

static void put(struct program *p, unsigned code, unsigned k, unsigned char if_true, unsigned char if_false)
{
    p->at[p->n++] = (struct sock_filter){ (unsigned short)code, if_true, if_false, k };
}

static void load(struct program *p, size_t offset)
{
    put(p, BPF_LD | BPF_W | BPF_ABS, (unsigned)offset, 0, 0);
}
static void answer(struct program *p, int error)
{
    put(p, BPF_RET | BPF_K, error ? SECCOMP_RET_ERRNO | (unsigned)error : SECCOMP_RET_ALLOW, 0, 0);
}

static void answer_to(struct program *p, const int *calls, int n, int error)
{
    for (int i = 0; i < n; i++) {
        put(p, BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
        answer(p, error);
    }
}

/* The lower half of an argument: the kernel, too, ignores the upper half of these arguments. */
static size_t low_half(int arg)
{
    return offsetof(struct seccomp_data, args) + 8 * (size_t)arg + (__BYTE_ORDER == __BIG_ENDIAN ? 4 : 0);
}

static void write_program(struct program *p, unsigned arch)
{
    load(p, offsetof(struct seccomp_data, arch));
    put(p, BPF_JMP | BPF_JEQ | BPF_K, arch, 1, 0);
    answer(p, EPERM);                           /* another processor's numbers are other calls */
    load(p, offsetof(struct seccomp_data, nr));
#ifdef FOREIGN_BIT
    put(p, BPF_JMP | BPF_JGE | BPF_K, FOREIGN_BIT, 0, 1);
    answer(p, EPERM);
#endif
    answer_to(p, refused, REFUSED, EPERM);
    answer_to(p, unknown, UNKNOWN, ENOSYS);
    for (int i = 0; i < REFUSED_WITH; i++) {
        put(p, BPF_JMP | BPF_JEQ | BPF_K, (unsigned)refused_with[i].call, 0, 4);
        load(p, low_half(refused_with[i].arg));
        put(p, BPF_JMP | (refused_with[i].is_mask ? BPF_JSET : BPF_JEQ) | BPF_K, refused_with[i].value, 0, 1);
        answer(p, EPERM);
        load(p, offsetof(struct seccomp_data, nr));
    }
    answer(p, 0);
}

int seccomp_refuse(struct err *err)
{
#ifdef OUR_ARCH
    struct program p = { .n = 0 };
    write_program(&p, OUR_ARCH);
    struct sock_fprog filter = { .len = p.n, .filter = p.at };
    /* without the flag, kernels before 5.16 also turn off speculation, which is slow and only of
     * use against code that was written by others */
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &filter) == 0 ||
        (errno == EINVAL && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0))
        return 0;
    return err_sys(err, ERR_SETTINGS,
                   "worker_seccomp: the kernel refuses the filter (set it to \"off\" to run without)");
#else
    return err_set(err, ERR_SETTINGS,
                   "worker_seccomp: there is no filter for this processor; set it to \"off\"");
#endif
}
