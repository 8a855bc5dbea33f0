//go:build tools

// Package etcd pins the etcd that the cluster is tested with. It is a module of its own, because etcd cannot be installed
// from outside a module.
package etcd

import _ "go.etcd.io/etcd/server/v3"
