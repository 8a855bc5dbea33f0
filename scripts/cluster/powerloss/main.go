// Command powerloss mounts a folder so that it behaves like a disk whose power can fail: what was written and not synced can
// be taken back.
//
//	powerloss <folder> <mount point> [seed]
//
// SIGTERM unmounts and keeps everything. SIGUSR1 is the power failure: each file goes back to what was last synced, and the
// program ends; with a seed, each page that was not synced is kept or lost by chance. Names are kept: files that were made,
// renamed or deleted stay so, as on a file system with a journal that is just committed.
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("usage: powerloss <folder> <mount point> [seed]")
	}
	disk := newDisk()
	server := mount(disk, os.Args[1], os.Args[2])
	fmt.Println("mounted")

	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGUSR1)
	fails := <-signals == syscall.SIGUSR1
	if fails {
		lost := disk.fail(chance())
		fmt.Printf("lost %d pages of %d files\n", lost.pages, lost.files)
	}
	for server.Unmount() != nil {
		time.Sleep(10 * time.Millisecond)
	}
}

// chance is nil without a seed: then everything that was not synced is lost.
func chance() *rand.Rand {
	if len(os.Args) < 4 {
		return nil
	}
	seed, err := strconv.ParseInt(os.Args[3], 10, 64)
	if err != nil {
		log.Fatalf("the seed: %v", err)
	}
	return rand.New(rand.NewSource(seed))
}

func mount(disk *disk, folder, point string) *fuse.Server {
	root := &node{&fs.LoopbackNode{RootData: &fs.LoopbackRoot{Path: folder}}, disk}
	second := time.Second
	options := &fs.Options{AttrTimeout: &second, EntryTimeout: &second}
	options.DirectMount = true
	options.FsName = "powerloss"
	server, err := fs.Mount(point, root, options)
	if err != nil {
		log.Fatalf("%s cannot be mounted: %v", point, err)
	}
	return server
}

// A node opens its files as files of the disk, and says before it cuts one.
type node struct {
	*fs.LoopbackNode
	disk *disk
}

func (n *node) WrapChild(_ context.Context, child fs.InodeEmbedder) fs.InodeEmbedder {
	return &node{child.(*fs.LoopbackNode), n.disk}
}

func (n *node) Create(ctx context.Context, name string, flags uint32, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	inode, handle, fuseFlags, errno := n.LoopbackNode.Create(ctx, name, flags, mode, out)
	if errno != fs.OK {
		return inode, handle, fuseFlags, errno
	}
	return inode, n.file(handle, flags), fuseFlags, errno
}

func (n *node) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	handle, fuseFlags, errno := n.LoopbackNode.Open(ctx, flags&^syscall.O_TRUNC)
	if errno != fs.OK {
		return handle, fuseFlags, errno
	}
	opened := n.file(handle, flags)
	if flags&syscall.O_TRUNC != 0 {
		errno = opened.cut(0)
	}
	return opened, fuseFlags, errno
}

func (n *node) Setattr(ctx context.Context, handle fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	size, cuts := in.GetSize()
	if handle != nil || !cuts {
		return n.LoopbackNode.Setattr(ctx, handle, in, out)
	}
	opened, _, errno := n.Open(ctx, syscall.O_RDWR)
	if errno != fs.OK {
		return errno
	}
	defer opened.(*file).Release(ctx)
	if errno := opened.(*file).cut(int64(size)); errno != fs.OK {
		return errno
	}
	return n.LoopbackNode.Setattr(ctx, nil, in, out)
}

// CopyFileRange is left to the kernel, which then writes.
func (n *node) CopyFileRange(context.Context, fs.FileHandle, uint64, *fs.Inode, fs.FileHandle, uint64, uint64, uint64) (uint32, syscall.Errno) {
	return 0, syscall.ENOTSUP
}

func (n *node) file(handle fs.FileHandle, flags uint32) *file {
	loopback := handle.(*fs.LoopbackFile)
	descriptor, _ := loopback.PassthroughFd()
	// O_DSYNC is a bit of O_SYNC.
	return &file{loopback, n.disk.contents(descriptor), flags&syscall.O_DSYNC != 0}
}

// A file tells its contents before they change, and when they are synced.
type file struct {
	*fs.LoopbackFile
	contents *contents
	syncs    bool
}

// PassthroughFd keeps the kernel from writing past us.
func (f *file) PassthroughFd() (int, bool) {
	return 0, false
}

func (f *file) Write(ctx context.Context, data []byte, offset int64) (n uint32, errno syscall.Errno) {
	f.contents.change(offset, int64(len(data)), func() { n, errno = f.LoopbackFile.Write(ctx, data, offset) })
	if f.syncs {
		f.contents.sync()
	}
	return n, errno
}

func (f *file) Fsync(context.Context, uint32) syscall.Errno {
	f.contents.sync()
	return fs.OK
}

func (f *file) Allocate(ctx context.Context, offset uint64, size uint64, mode uint32) (errno syscall.Errno) {
	f.contents.change(int64(offset), int64(size), func() { errno = f.LoopbackFile.Allocate(ctx, offset, size, mode) })
	return errno
}

func (f *file) Setattr(ctx context.Context, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if size, cuts := in.GetSize(); cuts {
		if errno := f.cut(int64(size)); errno != fs.OK {
			return errno
		}
	}
	return f.LoopbackFile.Setattr(ctx, in, out)
}

func (f *file) cut(size int64) syscall.Errno {
	return fs.ToErrno(f.contents.cut(size))
}
