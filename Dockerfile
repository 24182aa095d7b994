FROM node:24-bookworm-slim AS build
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
FROM node:24-bookworm-slim AS dependencies
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY packages packages
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && npm install --save-prod --omit=dev --ignore-scripts --no-audit --no-fund @aws-sdk/client-s3@3.1173.0 \
  && find node_modules -type f \( -name "*.map" -o -name "*.d.ts" -o -name "*.d.mts" -o -name "*.d.cts" \) -delete

# Debian of the same release, which has the libraries that Node wants, and a shell for terminals; but no npm.
FROM debian:bookworm-slim
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
