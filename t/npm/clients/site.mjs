// Has an application, or a server, listen on loopback: what ends that.

import { once } from 'node:events';

export async function listening(app, port) {
    const server = app.listen(port, 'localhost');

    await once(server, 'listening');

    return () => {
        server.closeAllConnections();
        server.close();
    };
}
