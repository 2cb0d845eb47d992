# The service for one household: docs/self-hosting.md.
FROM node:24-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build

FROM node:24-trixie-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM node:24-trixie-slim
# workerd trusts the certificate authorities of the system when it asks the catalogue.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/package.json /app/package-lock.json /app/wrangler.toml /app/wrangler.reader.toml /app/slots.json ./
COPY --from=build /app/migrations ./migrations
COPY --from=build /app/scripts ./scripts
COPY --from=build /app/src ./src
COPY --from=build /app/test/support/service ./test/support/service
COPY --from=build /app/dist ./dist
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
# wrangler writes to HOME, also if only /tmp can be written.
ENV HOST=0.0.0.0 PORT=8787 HOME=/tmp
EXPOSE 8787
HEALTHCHECK --interval=1m --timeout=15s --start-period=1m CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then(({ ok }) => process.exit(ok ? 0 : 1))"]
# Without npm, which does not pass signals on.
CMD ["node", "--optimize-for-size", "--max-semi-space-size=2", "--disable-warning=ExperimentalWarning", "--import", "./test/support/service/resolve-ts.ts", "scripts/serve.ts", "--data", "/data"]
