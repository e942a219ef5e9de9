// The REST half for the benchmark: pages that were rendered before, so that only who reads them is measured.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deviceMac, gatewayMac, LABEL_OF_ALL } from './traffic.ts';

const [total = 0, pageSize = 0, gateways = total] = process.argv.slice(2).map(Number);

const device = (index: number) => ({
  id: `bmac-${index < gateways ? gatewayMac(index) : deviceMac(index - gateways)}`,
  friendlyName: `Gateway ${index} on floor ${index % 40}`,
  modelNumber: '2011',
  labels: [`place-${index % 100}`, LABEL_OF_ALL],
  bootMode: null,
  connectivity: { connected: index % 7 !== 0, timestamp: '2020-12-08T08:10:08.88Z' },
  firmwareVersion: '3.4.1',
  hardwareVersion: '1.0',
  imei: null,
  status: null,
});

const pages = Array.from({ length: Math.ceil(total / pageSize) }, (_, page) => {
  const length = Math.min(pageSize, total - page * pageSize);
  const items = Array.from({ length }, (_, i) => device(page * pageSize + i));
  const isLast = (page + 1) * pageSize >= total;
  return JSON.stringify(isLast ? { items } : { items, nextToken: `${page + 1}` });
});

const LOGIN = JSON.stringify({ status: 'SUCCESS', authToken: 'token', sessionId: null });

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '', 'http://host');
  const body = url.pathname.endsWith('/login')
    ? LOGIN
    : (pages[Number(url.searchParams.get('NextToken') ?? 0)] ?? '');
  request.resume().on('end', () => {
    response.setHeader('content-type', 'application/json').end(body);
  });
});

process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
