// The API keys, devices, passkeys and sessions, used to show their labels and which credential created which.
import { createInfiniteQuery, createQuery } from '@tanstack/svelte-query';
import { http } from '../../../client/http';
import { keys } from '../../../client/keys';
import { devicePages } from './device-pages';
import { createLogins } from './logins';

export function createHolders() {
  const apiKeys = createQuery(() => ({ queryKey: keys.apiKeys, queryFn: () => http('get', '/api/auth/api-keys') }));
  const devices = createInfiniteQuery(() => devicePages);
  const passkeys = createQuery(() => ({ queryKey: keys.passkeys, queryFn: () => http('get', '/api/auth/passkeys') }));
  const logins = createLogins();
  return {
    get keys() {
      return apiKeys.data?.api_keys ?? [];
    },
    get presets() {
      return apiKeys.data?.presets ?? [];
    },
    get devices() {
      return devices.data?.pages.flatMap((page) => page.devices) ?? [];
    },
    get passkeys() {
      return (passkeys.data?.passkeys ?? []).map(({ name, ...passkey }) => ({ ...passkey, label: name }));
    },
    get sessions() {
      return logins.data?.sessions ?? [];
    },
    /** Whether the complete lists are loaded. */
    get whole() {
      const others = [apiKeys, passkeys, logins].every((query) => query.isSuccess);
      return others && devices.isSuccess && !devices.hasNextPage;
    },
    /** ID of the user's current session. */
    get own() {
      return logins.data?.sessions.find((session) => session.current)?.id;
    },
  };
}
