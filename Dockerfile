# Each base by version and digest: `docker buildx imagetools inspect NAME` tells the digest of another.
FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS node
FROM debian:bookworm-20261005-slim@sha256:7c7b2c966bc9ee8cedfeef67e0e279108992c77681fa595db4a9d65c06ccc587 AS system

FROM node AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY packages packages
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.base.json ./
COPY src src
COPY web web
COPY schemas schemas
COPY scripts scripts
RUN node node_modules/typescript/bin/tsc -b src \
  && node node_modules/vite/bin/vite.js build web \
  && node scripts/build.ts \
  && rm -r dist/types dist/client dist/*.tsbuildinfo

# What is not bundled: the pseudo-terminals, and the SDK of S3, whose own dependencies the lock file pins. Nothing reads maps and types.
FROM node AS dependencies
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY packages packages
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && npm install --save-prod --omit=dev --ignore-scripts --no-audit --no-fund @aws-sdk/client-s3@3.1173.0 \
  && find node_modules -type f \( -name "*.map" -o -name "*.d.ts" -o -name "*.d.mts" -o -name "*.d.cts" \) -delete

# Debian of the same release, which has the libraries that Node wants, and a shell for terminals; but no npm.
FROM system AS pawl
RUN useradd --no-log-init --uid 10001 --home-dir /data --shell /bin/bash pawl \
  && mkdir /app /data \
  && chown pawl:pawl /data \
  && chmod 0700 /data
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=dependencies /build/node_modules /opt/pawl/node_modules
COPY --from=build /build/dist /opt/pawl/dist
COPY package.json LICENSE /opt/pawl/
COPY bin /opt/pawl/bin
COPY schemas /opt/pawl/schemas
COPY templates /opt/pawl/templates
COPY examples /opt/pawl/examples
RUN ln -s /opt/pawl/bin/pawl.cjs /usr/local/bin/pawl
ARG VERSION=0.0.0 REVISION=unknown
LABEL org.opencontainers.image.title="Pawl" \
  org.opencontainers.image.description="Durable agent workflows: every finished step stays finished." \
  org.opencontainers.image.source="https://github.com/pawl-dev/pawl" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$REVISION"
# It listens for other containers, and therefore refuses to start without API_KEY.
ENV NODE_ENV=production PAWL_DATA=/data PAWL_SERVER__HOST=0.0.0.0
USER pawl
WORKDIR /app
# The root file system may be read-only: nothing else is written.
VOLUME ["/data", "/tmp"]
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/opt/pawl/bin/pawl.cjs"]
CMD ["serve"]

# `--target sandbox`: with what code steps in Python need, and the walls around them.
FROM pawl AS sandbox
USER root
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap python3 \
  && rm -rf /var/lib/apt/lists/*
USER pawl

# What is built where no target is named.
FROM pawl AS plain
