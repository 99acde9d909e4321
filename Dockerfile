# The daemon with tmux, as a user without privileges: docs/packaging/README.md.
FROM node:22-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npm ci && npm pack --pack-destination /tmp && mv /tmp/tmuxwire-*.tgz /tmp/tmuxwire.tgz

FROM node:22-bookworm-slim
# tini takes in what programs in panes leave behind.
RUN apt-get update \
  && apt-get install -y --no-install-recommends tini tmux \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /tmp/tmuxwire.tgz /tmp/tmuxwire.tgz
RUN npm install -g /tmp/tmuxwire.tgz && npm cache clean --force && rm /tmp/tmuxwire.tgz
RUN install -d -m 700 -o node -g node /run/tmuxwire /home/node/.local /home/node/.local/state
# tmux takes the shell of new panes from SHELL.
ENV SHELL=/bin/bash LANG=C.UTF-8 XDG_RUNTIME_DIR=/run/tmuxwire
USER node
WORKDIR /home/node
# Asked of tmux: ready means that it answers.
HEALTHCHECK --interval=30s --timeout=10s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:7420/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "tmuxwire"]
CMD ["serve", "--only", "native"]
