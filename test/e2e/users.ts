// The users of a Node-RED behind a login: one may do everything, one may only look, one may test connections too, one sees
// flows and nothing of the service.

/** Hashes of `writer-password`, `reader-password` and `tester-password`. */
const USERS = [
  {
    username: 'writer',
    password: '$2b$08$4nphDxfZKhg1zXzX7ipQCegX.zA/C.4quQRy2LNV0wOdxoWi5mZca',
    permissions: '*',
  },
  {
    username: 'reader',
    password: '$2b$08$4P5SkcmmLOreOLY1G.Q.JejfxJKo4xg8u/5XLaluX.WuKspbmajeC',
    permissions: 'read',
  },
  {
    username: 'tester',
    password: '$2b$08$oQd2mdqlOFvWXL8YKm0.6O3H7jp0yEy/vZLudpNWKUuF7TvPWHjvG',
    permissions: ['read', 'mt-service.write'],
  },
  {
    username: 'visitor',
    /** The reader's. */
    password: '$2b$08$4P5SkcmmLOreOLY1G.Q.JejfxJKo4xg8u/5XLaluX.WuKspbmajeC',
    permissions: [
      'flows.read',
      'nodes.read',
      'settings.read',
      'plugins.read',
      'icons.read',
      'context.read',
      'status.read',
    ],
  },
];

export type UserName = 'writer' | 'reader' | 'tester';

/** Settings of Node-RED. */
export const WITH_LOGIN = { httpAdminRoot: '/admin', adminAuth: { type: 'credentials', users: USERS } };

/** A header that shows who calls, after a login at the admin API. */
export async function authorizationOf(url: string, username: UserName): Promise<Record<string, string>> {
  const scope = { writer: '*', reader: 'read', tester: '' }[username];
  const login = { client_id: 'node-red-admin', grant_type: 'password', scope };
  const answer = await fetch(`${url}/auth/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...login, username, password: `${username}-password` }),
  });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  return { authorization: `Bearer ${token}` };
}
