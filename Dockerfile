# The command line alone. GoReleaser builds the program and puts it, with the licence, beside this
# file (dockers_v2 in .goreleaser.yaml). Time zones and TLS roots are in the program; nothing else
# of an operating system is needed.
FROM scratch
ARG TARGETPLATFORM
COPY LICENSE NOTICE /
COPY $TARGETPLATFORM/pawl /pawl
# As process 1 it starts itself as a child, waits for whatever processes are left to it, and
# passes signals on: no init beside it is needed.
USER 65532:65532
ENTRYPOINT ["/pawl"]
