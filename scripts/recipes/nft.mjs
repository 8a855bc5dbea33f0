import { nodeFileTrace } from '@vercel/nft'

const { fileList } = await nodeFileTrace(['program.mjs'])
for (const file of fileList) console.log(file)
