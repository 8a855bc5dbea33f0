/*
** Bounds for what SQLite puts together itself.
**
** SQLite bounds the depth of each expression as it is written (SQLITE_LIMIT_EXPR_DEPTH) and the terms of each compound SELECT,
** because it walks both by recursion. It does not look again when it puts expressions into each other: views that are flattened
** into one query, conditions that are pushed down into subqueries, generated columns that read each other. A hundred views whose
** expressions are 900 deep each needed 47 MiB of stack. Nor does it bound how much this copies, or how often a view that reads
** another one twice is expanded.
**
** build.rs includes this file into a copy of sqlite3.c, before the first function that is bounded, and calls these functions
** where things are put together. The bounds are multiples of SQLite's own limits, so that `sqlite3_limit` moves them, too.
*/

/* Depth of what is put together, in multiples of SQLITE_LIMIT_EXPR_DEPTH. */
#define RESQLITE_DEPTHS 4
/* Nodes that are copied while one statement is compiled, in the same multiples. */
#define RESQLITE_COPIES 2000
/* Nodes of generated columns that are compiled for one statement: each reader of one compiles all that it reads. */
#define RESQLITE_GENERATED 8000
/* Terms of a compound SELECT that others were flattened into, in multiples of SQLITE_LIMIT_COMPOUND_SELECT. */
#define RESQLITE_COMPOUNDS 4
/* Cursors from which on no view is expanded, in multiples of SQLITE_LIMIT_EXPR_DEPTH. SQLite has the same bound for CTEs. */
#define RESQLITE_CURSORS 4
/* A SELECT inside an expression takes as much stack as so many levels of the expression. */
#define RESQLITE_SELECT_LEVELS 4

typedef struct ResqliteTree {
  int nDepth;               /* Levels above the node that is looked at */
  int mxDepth;              /* Levels that are allowed */
  int nSeen;                /* The most levels that were seen */
  int nNode;                /* Nodes that were seen */
  int mxNode;               /* Nodes that are allowed */
} ResqliteTree;

static int resqliteListTooLarge(ResqliteTree*, const ExprList*);
static int resqliteSelectTooLarge(ResqliteTree*, const Select*);

/* True if the tree is deeper, or has more nodes, than is allowed. It descends no deeper than that. */
static int resqliteExprTooLarge(ResqliteTree *t, const Expr *p){
  int bad;
  if( p==0 ) return 0;
  if( t->nNode>=t->mxNode || t->nDepth>=t->mxDepth ) return 1;
  t->nNode++;
  t->nDepth++;
  if( t->nSeen<t->nDepth ) t->nSeen = t->nDepth;
  if( ExprHasProperty(p, EP_TokenOnly|EP_Leaf) ){
    bad = 0;
  }else if( resqliteExprTooLarge(t, p->pLeft) || resqliteExprTooLarge(t, p->pRight) ){
    bad = 1;
  }else if( ExprUseXSelect(p) ){
    bad = resqliteSelectTooLarge(t, p->x.pSelect);
  }else{
    bad = resqliteListTooLarge(t, p->x.pList);
    if( bad==0 && ExprHasProperty(p, EP_WinFunc) ){
      const Window *pWin = p->y.pWin;
      bad = resqliteExprTooLarge(t, pWin->pFilter)
         || resqliteListTooLarge(t, pWin->pPartition)
         || resqliteListTooLarge(t, pWin->pOrderBy);
    }
  }
  t->nDepth--;
  return bad;
}
static int resqliteListTooLarge(ResqliteTree *t, const ExprList *p){
  int i;
  for(i=0; p && i<p->nExpr; i++){
    if( resqliteExprTooLarge(t, p->a[i].pExpr) ) return 1;
  }
  return 0;
}

/* The same for the expressions of one term of a compound SELECT, without subqueries in FROM. */
static int resqliteTermTooLarge(ResqliteTree *t, const Select *p){
  int i;
  for(i=0; p->pSrc && i<p->pSrc->nSrc; i++){
    const SrcItem *pItem = &p->pSrc->a[i];
    if( pItem->fg.isTabFunc && resqliteListTooLarge(t, pItem->u1.pFuncArg) ) return 1;
  }
  return resqliteListTooLarge(t, p->pEList)
      || resqliteExprTooLarge(t, p->pWhere)
      || resqliteListTooLarge(t, p->pGroupBy)
      || resqliteExprTooLarge(t, p->pHaving)
      || resqliteListTooLarge(t, p->pOrderBy)
      || resqliteExprTooLarge(t, p->pLimit);
}

/* The same for a SELECT inside an expression. */
static int resqliteSelectTooLarge(ResqliteTree *t, const Select *p){
  int i, bad = 0;
  t->nDepth += RESQLITE_SELECT_LEVELS;
  if( t->nDepth>=t->mxDepth ) bad = 1;
  for(; p && bad==0; p=p->pPrior){
    bad = resqliteTermTooLarge(t, p);
    for(i=0; p->pSrc && i<p->pSrc->nSrc && bad==0; i++){
      const SrcItem *pItem = &p->pSrc->a[i];
      if( pItem->fg.isSubquery ) bad = resqliteSelectTooLarge(t, pItem->u4.pSubq->pSelect);
    }
  }
  t->nDepth -= RESQLITE_SELECT_LEVELS;
  return bad;
}

/* The bounds of a statement. What was copied before counts. */
static ResqliteTree resqliteTree(Parse *pParse){
  int nLimit = pParse->db->aLimit[SQLITE_LIMIT_EXPR_DEPTH];
  ResqliteTree t = {0, RESQLITE_DEPTHS*nLimit, 0, 0, RESQLITE_COPIES*nLimit - pParse->nResqliteCopied};
  return t;
}

static void resqliteTooLarge(Parse *pParse){
  if( pParse->nErr ) return;
  sqlite3ErrorMsg(pParse, "views, subqueries or generated columns make an expression that is too large");
}

/*
** Called before an expression is copied to where a column of a subquery is named, or a SELECT for each term of a compound
** that it reads. True, with an error, if it must not be.
*/
static int resqliteMayNotCopy(Parse *pParse, const Expr *pExpr, const Select *pSelect){
  ResqliteTree t = resqliteTree(pParse);
  if( pParse->nErr ) return 1;
  if( resqliteExprTooLarge(&t, pExpr) || (pSelect && resqliteTermTooLarge(&t, pSelect)) ){
    resqliteTooLarge(pParse);
    return 1;
  }
  pParse->nResqliteCopied += t.nNode + 1;
  return 0;
}

/* Called after expressions were put into those of this term. */
static void resqliteCheckTerm(Parse *pParse, const Select *p){
  ResqliteTree t = resqliteTree(pParse);
  t.mxNode = 0x7fffffff;
  if( resqliteTermTooLarge(&t, p) ) resqliteTooLarge(pParse);
}

/* Called after expressions were put into this one. */
static void resqliteCheckExpr(Parse *pParse, const Expr *pExpr){
  ResqliteTree t = resqliteTree(pParse);
  t.mxNode = 0x7fffffff;
  if( resqliteExprTooLarge(&t, pExpr) ) resqliteTooLarge(pParse);
}

/* Called after the terms of one compound SELECT were put into another one. */
static void resqliteCheckCompound(Parse *pParse, const Select *p){
  int mxTerm = RESQLITE_COMPOUNDS*pParse->db->aLimit[SQLITE_LIMIT_COMPOUND_SELECT];
  int nTerm = 1;
  const Select *pOther;
  for(pOther=p->pNext; pOther && nTerm<=mxTerm; pOther=pOther->pNext) nTerm++;
  for(pOther=p->pPrior; pOther && nTerm<=mxTerm; pOther=pOther->pPrior) nTerm++;
  if( nTerm>mxTerm && mxTerm>0 ) sqlite3ErrorMsg(pParse, "too many terms in compound SELECT");
}

/* Called before a view is expanded. True, with an error, if it must not be. */
static int resqliteMayNotExpand(Parse *pParse){
  if( pParse->nTab<RESQLITE_CURSORS*pParse->db->aLimit[SQLITE_LIMIT_EXPR_DEPTH] ) return 0;
  sqlite3ErrorMsg(pParse, "VIEWs and/or subqueries nested too deep");
  return 1;
}

/* Compiles the expression of a generated column, which may read others. */
static void resqliteCodeGenerated(Parse *pParse, Expr *pExpr, int regOut){
  ResqliteTree t = resqliteTree(pParse);
  t.mxNode = RESQLITE_GENERATED*pParse->db->aLimit[SQLITE_LIMIT_EXPR_DEPTH] - pParse->nResqliteCompiled;
  t.nDepth = pParse->nResqliteDepth;
  if( resqliteExprTooLarge(&t, pExpr) ){
    resqliteTooLarge(pParse);
    return;
  }
  pParse->nResqliteCompiled += t.nNode;
  pParse->nResqliteDepth = t.nSeen;
  sqlite3ExprCodeCopy(pParse, pExpr, regOut);
  pParse->nResqliteDepth = t.nDepth;
}
