package main

import (
	"fmt"
	"log"
	"math/rand"
	"os"
	"sync"
	"syscall"
)

const page = 4096

// A disk knows, of each file that was changed, what was last synced.
type disk struct {
	mutex sync.Mutex
	files map[uint64]*contents
}

type lost struct{ files, pages int }

func newDisk() *disk {
	return &disk{files: map[uint64]*contents{}}
}

// contents are the same for all descriptors of a file.
func (d *disk) contents(descriptor int) *contents {
	var stat syscall.Stat_t
	if err := syscall.Fstat(descriptor, &stat); err != nil {
		log.Fatal(err)
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	known := d.files[stat.Ino]
	if known == nil {
		// Of its own: others are closed, and may not be allowed to read.
		file, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", descriptor), os.O_RDWR, 0)
		if err != nil {
			log.Fatal(err)
		}
		known = &contents{file: file}
		d.files[stat.Ino] = known
	}
	return known
}

// fail takes back what was not synced: everything, or what chance says.
func (d *disk) fail(chance *rand.Rand) lost {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	var sum lost
	for _, each := range d.files {
		if pages := each.fail(chance); pages > 0 {
			sum.files++
			sum.pages += pages
		}
	}
	return sum
}

// contents keep, since the last sync, the size and each page that was changed as they were then.
type contents struct {
	mutex  sync.Mutex
	file   *os.File
	synced map[int64][]byte
	size   int64
}

func (c *contents) change(offset, length int64, change func()) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.keep(offset, length)
	change()
}

func (c *contents) cut(size int64) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.keep(size, max(c.currentSize()-size, 0))
	return c.file.Truncate(size)
}

func (c *contents) sync() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.synced = nil
}

func (c *contents) keep(offset, length int64) {
	if c.synced == nil {
		c.synced = map[int64][]byte{}
		c.size = c.currentSize()
	}
	end := min(offset+length, c.size)
	for start := offset / page * page; start < offset+length; start += page {
		if c.synced[start] == nil {
			c.synced[start] = c.read(start, end)
		}
	}
}

// read gives a page, shorter at the end of the file; of nothing where there is none.
func (c *contents) read(start, end int64) []byte {
	bytes := make([]byte, page)
	if start >= end {
		return bytes[:0]
	}
	n, _ := c.file.ReadAt(bytes, start)
	return bytes[:n]
}

func (c *contents) fail(chance *rand.Rand) int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	pages, size := 0, c.size
	for start, before := range c.synced {
		if chance != nil && chance.Intn(2) == 0 {
			size = max(size, min(start+page, c.currentSize()))
			continue
		}
		pages++
		c.write(start, before)
	}
	if c.synced != nil {
		if err := c.file.Truncate(size); err != nil {
			log.Fatal(err)
		}
	}
	c.synced = nil
	return pages
}

// write puts back a page; what lay behind the end of the file becomes zeros.
func (c *contents) write(start int64, before []byte) {
	bytes := make([]byte, page)
	copy(bytes, before)
	if _, err := c.file.WriteAt(bytes, start); err != nil {
		log.Fatal(err)
	}
}

func (c *contents) currentSize() int64 {
	info, err := c.file.Stat()
	if err != nil {
		log.Fatal(err)
	}
	return info.Size()
}
