module pgcuckoo

go 1.19
