// The query for login sessions, shared by several components.
import { createQuery } from '@tanstack/svelte-query';
import { http } from '../../../client/http';
import { keys } from '../../../client/keys';

export const createLogins = () =>
  createQuery(() => ({ queryKey: keys.logins, queryFn: () => http('get', '/api/auth/sessions') }));
