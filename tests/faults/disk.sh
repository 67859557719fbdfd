# disk.sh - small file systems of a scenario's own (ext4 in a file, on a loop device): to be filled,
# made read-only, cut off from their disk. Sourced after lib.sh.
#
#   needs_disks                     skips the scenario, with a reason, without loop devices or
#                                   without the right to mount
#   a_disk NAME MIB                 makes one and mounts it at $DISK. It is unmounted when the
#                                   scenario ends, in whatever way
#   disk_fill NAME [KIB]            fills it except for so many KiB (0); disk_free NAME frees that
#                                   space; disk_left NAME prints how many KiB are free
#   disk_read_only NAME             from now on nothing can be written; disk_writable NAME. (Fails
#                                   while a file is open for writing.)
#   disk_unmount NAME  disk_mount NAME      the same file system, later
#   disk_loses_power NAME           unsynced data is lost, and every access fails from now on. End
#                                   the processes that have its files open next. DARK_US is the
#                                   time: messages of its machine after that do not count
#   disk_has_power NAME             mounted again, after ext4 has replayed its journal
#   disk_forgets NAME               checks this: of two files, only the synced one is there
#                                   afterwards
#
# The mount is $TMP/disk.NAME, its image beside it; $DISK belongs to root at first.

needs_disks() {
    needs_root
    needs_command mkfs.ext4 losetup mount
    needs 'a_disk try 8 && disk_unmount try' "it needs loop devices and the right to mount"
    rm -f "$TMP/disk.try.img"
}

a_disk() {
    DISK=$TMP/disk.$1
    mkdir -p "$DISK" || return 1
    truncate -s "$2M" "$DISK.img" && mkfs.ext4 -q -F -m 0 "$DISK.img" || return 1
    at_end disk_unmount "$1"
    disk_mount "$1"
}

disk_mount() { mount -o loop,noatime "$TMP/disk.$1.img" "$TMP/disk.$1"; }
is_mounted() { grep -qF " $TMP/disk.$1 " /proc/self/mounts; }

# What is still in use leaves the tree at once, and the loop device as soon as no process has a file
# of it open.
disk_unmount() {
    is_mounted "$1" || return 0
    wait_until 5 umount "$TMP/disk.$1" 2>/dev/null || umount -l "$TMP/disk.$1"
}

disk_left() { df --output=avail -k "$TMP/disk.$1" | tail -1 | tr -d ' '; }

# Most of it at a stroke; then in steps that become smaller: what is there beside the blocks of the
# file (maps of them) is not known before.
disk_fill() {
    local keep=${2:-0} step left
    left=$(($(disk_left "$1") - keep - 1024))
    [ $left -le 0 ] || fallocate -l "${left}K" "$TMP/disk.$1/filler" 2>/dev/null || true
    for step in 64 4 1; do
        left=$(($(disk_left "$1") - keep))
        [ "$left" -lt "$step" ] || dd if=/dev/zero of="$TMP/disk.$1/filler" bs="${step}K" \
            count=$((left / step)) oflag=append conv=notrunc,fsync status=none 2>/dev/null || true
    done
    [ "$(disk_left "$1")" -le $((keep + 4)) ]
}
disk_free() { rm -f "$TMP/disk.$1/filler"; }

disk_read_only() { mount -o remount,ro "$TMP/disk.$1"; }
disk_writable() { mount -o remount,rw "$TMP/disk.$1"; }

# EXT4_IOC_SHUTDOWN without a flush of the log: the kernel forgets what it has not written, as
# memory does. The disk's file has what was written. A sync that is under way at that moment may
# still say that all is well, and its bytes are gone (of some 300 plain appends so cut off, 14 did):
# processes live on for a moment here, which a machine without power would not let them.
disk_loses_power() {
    DARK_US=$(python3 - "$TMP/disk.$1" <<'END'
import fcntl, os, struct, sys, time
disk = os.open(sys.argv[1], os.O_RDONLY)
print(time.time_ns() // 1000)
fcntl.ioctl(disk, 0x8004587D, struct.pack("I", 2))
END
)
}
disk_has_power() { wait_until 20 umount "$TMP/disk.$1" 2>/dev/null && disk_mount "$1"; }

disk_forgets() {
    local there
    echo synced >"$TMP/disk.$1/synced" && sync "$TMP/disk.$1/synced" "$TMP/disk.$1" &&
        echo loose >"$TMP/disk.$1/loose" || return 1
    disk_loses_power "$1" && disk_has_power "$1" || return 1
    there=$(cd "$TMP/disk.$1" && echo synced loose*)
    rm -f "$TMP/disk.$1/synced"
    [ "$there" = 'synced loose*' ]
}
