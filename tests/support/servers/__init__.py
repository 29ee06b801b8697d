"""Real servers on loopback for tests and benchmarks; ask for them by fixture, or use the classes as context managers.

    s3_server        SeaweedFS: verifies signatures, has a second identity that may only read     ~4 s to start
    azure_server     Azurite                                                                     ~2 s
    google_server    gcp-storage-emulator, for reading                                           ~1 s
    ftp_server       pyftpdlib, for what goes through fsspec                                      ~1 s
    http_server      ours, in threads of this process; `.manners` may be changed, `.requests` says what was asked
    fault_proxy      ours, a process in front of any of them: delays, errors, cut and short bodies, time-outs
    s3_bucket, azure_container    one that all tests share: keep below `unique_prefix`
    s3_folder        the URL of a folder of the test's own in the S3 server, with tfrkit configured for it
    remote_folder    the same twice: in memory, and in the S3 server

A server is started when the first test asks for it, once per session (and xdist worker), and it ends with the process
that started it, however that ends. Example:

    from obstore.store import S3Store
    from tests.support.servers.fault_proxy import Fault

    def test_reads_through_faults(s3_server, s3_bucket, unique_prefix, fault_proxy):
        S3Store(s3_bucket, **s3_server.options()).put(unique_prefix + "a", b"x" * 1000)
        proxy = fault_proxy(s3_server.port, Fault("cut", every=10), Fault("error", every=20, status=503))
        store = S3Store(s3_bucket, **s3_server.options(endpoint=proxy.endpoint))
        ...                                              # read through `store`
        assert proxy.counts()["cut"] > 0                 # the faults did happen
        assert len(proxy.requests()) == 30               # and no more was asked for than that
        proxy.set(Fault("delay", seconds=0.05))          # from here on: 50 ms per request, nothing else

    def test_in_another_process(s3_server, s3_bucket):   # the same by the environment, as users have it
        subprocess.run([...], env={**os.environ, **s3_server.environment()})

    def test_signed_url(http_server):
        http_server.files["dir/a b.tfrecord"] = data
        http_server.manners.signature = "s3cret"         # 403 without ?sig=s3cret
        url = f"{http_server.url}/dir/a%20b.tfrecord?sig=s3cret"

`s3_server.uploads(bucket)` names the multipart uploads that were left behind. In a benchmark:
`with S3Server() as server, FaultProxy(server.port, Fault("delay", seconds=0.05)) as proxy: ...`.
"""
