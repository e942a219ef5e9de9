// Types of the parts of undici that are loaded one by one; the package itself declares only its main entry.

declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici';
  export default Agent;
}

declare module 'undici/lib/core/connect.js' {
  import type { Socket } from 'node:net';
  import type { buildConnector } from 'undici';

  const build: (
    options: buildConnector.BuildOptions,
  ) => (options: buildConnector.Options, callback: buildConnector.Callback) => Socket;
  export default build;
}
