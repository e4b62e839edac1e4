// Does what it is told with Anthropic's own client. Reads { base_url, key, jobs: [{ do, with?, retries? }] } from
// standard input and writes a list: for each job { ok: what came } or { error: the class, status, message }.
import Anthropic from '@anthropic-ai/sdk';

const kinds = {
  create: (client, job) => client.messages.create(job.with),
  stream: async (client, job) => {
    const events = client.messages.stream(job.with);
    const list = [];
    for await (const event of events) list.push(event.type);
    return { kinds: list, message: await events.finalMessage() };
  },
  send: async (client, job) => {
    const list = [];
    for await (const event of await client.messages.create(job.with)) list.push(event.type);
    return list;
  },
  models: async (client) => {
    const list = [];
    for await (const model of client.models.list({ limit: 1000 })) list.push(model);
    return list;
  },
};

const run = async (order, job) => {
  // By itself the client tries twice again.
  const client = new Anthropic({
    baseURL: order.base_url, apiKey: order.key, maxRetries: job.retries ?? 0, timeout: 60_000,
  });
  try {
    return { ok: await kinds[job.do](client, job) };
  } catch (error) {
    if (!(error instanceof Anthropic.APIError)) throw error;
    return { error: error.constructor.name, status: error.status ?? null, message: error.message };
  }
};

let input = '';
for await (const chunk of process.stdin) input += chunk;
const order = JSON.parse(input);
const answers = [];
for (const job of order.jobs) answers.push(await run(order, job));
console.log(JSON.stringify(answers));
