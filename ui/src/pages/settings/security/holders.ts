// The API keys and devices, which several parts of this page read to name them and to find out which created which.
import { createInfiniteQuery, createQuery } from '@tanstack/svelte-query';
import { http } from '../../../client/http';
import { keys } from '../../../client/keys';
import { devicePages } from './device-pages';
import { createLogins } from './logins';

export function createHolders() {
  const apiKeys = createQuery(() => ({ queryKey: keys.apiKeys, queryFn: () => http('get', '/api/auth/api-keys') }));
  const devices = createInfiniteQuery(() => devicePages);
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
    /** All of them are known. */
    get whole() {
      return apiKeys.isSuccess && devices.isSuccess && !devices.hasNextPage;
    },
    /** The id of the person's own session. */
    get own() {
      return logins.data?.sessions.find((session) => session.current)?.id;
    },
  };
}
